-- millrace.compute_message: a compute job as the message of Stage 3 (M-01), by the schema message.schema.json that is kept with the contracts: what a broker outside
-- would carry. The job itself is the message here, so it is made when somebody asks. Another tenant's job and one of another type do not exist: MR009.
create or replace function millrace.compute_message(p_job_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_message jsonb;
begin
  select jsonb_build_object('job_id', f.job_id, 'tenant_id', f.tenant_id, 'app_id', f.payload -> 'app_id', 'definition', f.payload -> 'definition',
           'version', f.payload -> 'version', 'inputs_hash', f.payload -> 'inputs_hash', 'requested_at', f.payload -> 'requested_at',
           'payload', f.payload -> 'inputs', 'priority', f.priority)
    into v_message
    from millrace.job_fact f join millrace.job_type t on t.type_id = f.type_id
   where f.job_id = p_job_id and t.job_type = 'compute_solve' and (v_scope is null or f.tenant_id = v_scope);
  if v_message is null then
    raise exception 'job % does not exist', p_job_id using errcode = 'MR009';
  end if;
  return v_message;
end;
$$;
