-- millrace.list_quarantine: content of the tenant that is not read any more, newest first.
create or replace function millrace.list_quarantine(p_limit integer default 100) returns setof jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
begin
  return query
  select jsonb_build_object('sha256', encode(q.sha256, 'hex'), 'tenant_id', q.tenant_id, 'what', q.what, 'stage', q.stage, 'reason', q.reason, 'file_id', q.file_id, 'page', q.page,
           'quarantined_at', q.quarantined_at)
    from millrace.quarantine q where q.released_at is null and (v_scope is null or q.tenant_id = v_scope)
   order by q.quarantined_at desc limit least(greatest(coalesce(p_limit, 100), 1), 1000);
end;
$$;
