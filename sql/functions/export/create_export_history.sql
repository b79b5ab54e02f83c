-- millrace.create_export_history: a finished export of a user, to be found again until it expires (S-23). Fields: user_id, document_id, document_version,
-- format, template_slug, file_name, file_path, file_size, job_id, batch_id, expires_at (missing: after export.ttl_seconds). A job writes one row,
-- however often it is told.
create or replace function millrace.create_export_history(p_row jsonb) returns setof millrace.export_history
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_user uuid := millrace.uuid_or_null(p_row ->> 'user_id');
  v_tenant uuid;
  v_now timestamptz := millrace.now();
  v_row millrace.export_history;
  v_bad text := (select k from jsonb_object_keys(p_row) k where k not in ('user_id', 'document_id', 'document_version', 'format', 'template_slug', 'file_name',
    'file_path', 'file_size', 'job_id', 'batch_id', 'expires_at', 'download_count') limit 1);
begin
  if p_row is null or v_user is null or coalesce(p_row ->> 'file_name', '') = '' or coalesce(p_row ->> 'file_path', '') = ''
     or coalesce(p_row ->> 'file_size', '') !~ '^[0-9]{1,15}$' then
    raise exception 'user_id, file_name, file_path and file_size are required' using errcode = 'MR024';
  end if;
  if v_bad is not null then
    raise exception 'column % of export_history cannot be given', quote_ident(v_bad) using errcode = '42703';
  end if;
  v_tenant := coalesce(millrace.tenant_scope(), millrace.tenant_of_user(v_user));
  insert into millrace.export_history as h (id, tenant_id, user_id, document_id, document_version, format, template_slug, file_name, file_path, file_size, job_id,
      batch_id, expires_at, created_at)
  values (millrace.new_id(), v_tenant, v_user, millrace.uuid_or_null(p_row ->> 'document_id'), (p_row ->> 'document_version')::integer,
          coalesce(p_row ->> 'format', 'pdf'), p_row ->> 'template_slug', left(p_row ->> 'file_name', 1024), p_row ->> 'file_path', (p_row ->> 'file_size')::bigint,
          millrace.uuid_or_null(p_row ->> 'job_id'), millrace.uuid_or_null(p_row ->> 'batch_id'),
          coalesce(millrace.parse_time(p_row ->> 'expires_at', 'expires_at'),
                   v_now + make_interval(secs => millrace.config_integer('export.ttl_seconds', 604800))), v_now)
  on conflict (job_id) do update set job_id = excluded.job_id where h.tenant_id = v_tenant and h.user_id = v_user
  returning h.* into v_row;
  if not found then
    raise exception 'job_id is in use' using errcode = 'MR024';
  end if;
  return next v_row;
end;
$$;
