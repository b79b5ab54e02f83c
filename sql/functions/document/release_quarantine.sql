-- millrace.release_quarantine: this content may be read again; what was given up for it is begun anew by millrace.retry_document. Answers how many tenants had it.
create or replace function millrace.release_quarantine(p_sha256 text) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_row record;
  v_count integer := 0;
begin
  if coalesce(p_sha256, '') !~ '^[0-9a-f]{64}$' then
    raise exception 'sha256 must be 64 hexadecimal digits' using errcode = 'MR024';
  end if;
  for v_row in
    update millrace.quarantine q set released_at = millrace.now(), released_by = millrace.actor()
     where q.sha256 = decode(p_sha256, 'hex') and q.released_at is null and (v_scope is null or q.tenant_id = v_scope) returning q.*
  loop
    perform millrace.audit_for(v_row.tenant_id, 'quarantine', p_sha256, 'quarantine_released', jsonb_build_object('reason', v_row.reason), '{}', 'Content may be read again');
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
