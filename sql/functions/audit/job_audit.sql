-- millrace.job_audit: the whole history of one job, rebuilt from the audit alone, oldest first. A row of a batch shows what
-- it says about all its jobs. Unknown job or another tenant's: MR009.
create or replace function millrace.job_audit(p_job_id uuid)
  returns table (at timestamptz, audit_id bigint, action text, operation text, status text, actor text, worker_id text,
                 reason text, category text, patient_id uuid, old_values jsonb, new_values jsonb, jobs integer)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_claim uuid;
  v_position integer;
begin
  select c.claim_id, c.position into v_claim, v_position
    from millrace.job_fact f cross join lateral millrace.find_claim(f.lane_id, f.seq, f.job_id, f.created_at) c where f.job_id = p_job_id;
  return query
  select a.at, a.audit_id, a.action, a.operation, a.new_values ->> 'status', a.actor, a.worker_id, a.reason,
         a.category, a.patient_id, a.old_values, a.new_values,
         case when a.table_name = 'claim' then (a.new_values ->> 'jobs')::integer else cardinality(a.job_ids) end
    from millrace.audit a
   where (v_scope is null or a.tenant_id = v_scope)
     and ((cardinality(a.job_ids) > 1 and millrace.ids_range(a.job_ids) @> millrace.id_prefix(p_job_id) and p_job_id = any (a.job_ids))
          or (a.record_id = p_job_id::text and a.job_ids = array[p_job_id])
          or (a.record_id = v_claim::text and a.table_name = 'claim'
              and (a.action = 'claimed' or get_bit((a.new_values ->> 'done')::bit varying, v_position) = 1)))
   order by a.at, a.audit_id;
  if not found then
    raise exception 'job % does not exist', p_job_id using errcode = 'MR009';
  end if;
end;
$$;
