-- millrace.reserve_export: the file of an export is made and has p_bytes: keeps so much of its user's quota, and the place where it will lie, before anything is stored
-- (E12). {"allowed", "filePath", "usedMB", "limitMB"}; not allowed where the quota has no room for it (X-24). Whoever does the same job again gets the same place, so that
-- a file is never stored over another (X-06): {user}/{document}_{milliseconds}.pdf.
create or replace function millrace.reserve_export(p_job_id uuid, p_bytes bigint) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_limit bigint := millrace.config_bigint('export.quota_bytes', 104857600);
  v_job record;
  v_kept bigint;
  v_claimed bigint;
  v_used bigint;
  v_own millrace.export_reservation;
  v_allowed boolean;
  v_ms bigint := floor(extract(epoch from millrace.now()) * 1000);
begin
  select f.tenant_id, f.owner_id, millrace.uuid_or_null(f.payload ->> 'document_id') as document_id, millrace.json_integer(f.payload, 'document_version') as version
    into v_job from millrace.job_fact f where f.job_id = p_job_id;
  if not found then
    raise exception 'job % does not exist', p_job_id using errcode = 'MR009';
  end if;
  if p_bytes is null or p_bytes < 0 then
    raise exception 'p_bytes must be at least 0' using errcode = 'MR024';
  end if;
  perform millrace.lock_exports(v_job.tenant_id, v_job.owner_id);
  select r.* into v_own from millrace.export_reservation r where r.job_id = p_job_id;
  -- What was kept for it when it was ordered is its own. Nearly always all that is kept has room, and nobody need look at what has become of the others.
  -- What is kept is read before what is used, here and below: a file that is settled meanwhile is counted twice rather than not at all.
  select coalesce(sum(r.bytes), 0) into v_kept from millrace.export_reservation r where r.tenant_id = v_job.tenant_id and r.user_id = v_job.owner_id;
  v_used := millrace.export_used(v_job.tenant_id, v_job.owner_id);
  if p_bytes <= v_own.bytes and v_used + v_kept <= v_limit then
    v_allowed := true;
  else
    -- The last order may have been promised more than is left: then files come before promises, those that are made but not settled among them.
    select r.reserved into v_kept from millrace.export_room(v_job.tenant_id, v_job.owner_id) r;
    select coalesce(sum(r.bytes), 0) into v_claimed from millrace.export_reservation r
     where r.tenant_id = v_job.tenant_id and r.user_id = v_job.owner_id and r.job_id <> p_job_id and r.file_path is not null;
    v_used := millrace.export_used(v_job.tenant_id, v_job.owner_id);
    v_allowed := v_used + v_claimed + p_bytes <= v_limit
      and (p_bytes <= coalesce(v_own.bytes, 0) or v_used + v_kept - coalesce(v_own.bytes, 0) + p_bytes <= v_limit);
  end if;
  if v_allowed and v_own.file_path is null then
    loop
      v_own.file_path := v_job.owner_id || '/' || v_job.document_id || '_' || v_ms || '.pdf';
      exit when not exists (select from millrace.storage_object o where o.tenant_id = v_job.tenant_id and o.bucket = 'exports' and o.name = v_own.file_path)
        and not exists (select from millrace.export_reservation r where r.tenant_id = v_job.tenant_id and r.user_id = v_job.owner_id and r.file_path = v_own.file_path);
      v_ms := v_ms + 1;
    end loop;
  end if;
  if v_allowed then
    insert into millrace.export_reservation as r (job_id, tenant_id, user_id, bytes, document_id, document_version, file_path)
    values (p_job_id, v_job.tenant_id, v_job.owner_id, p_bytes, v_job.document_id, v_job.version, v_own.file_path)
    -- From here on it counts as what it is.
    on conflict (job_id) do update set bytes = excluded.bytes, file_path = excluded.file_path;
  end if;
  return jsonb_build_object('allowed', v_allowed, 'filePath', v_own.file_path, 'usedMB', round(v_used / 1048576.0, 2), 'limitMB', trim_scale(round(v_limit / 1048576.0, 2)));
end;
$$;
