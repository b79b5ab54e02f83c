-- millrace.log_audit_event: an audit row of a client's own (clinical writes name their patient). Returns its number.
-- A job id in the values ties it to that job, so that the job's history shows it. Appends; never changes anything.
create or replace function millrace.log_audit_event(
    p_table_name text, p_record_id text, p_operation text, p_old_values jsonb, p_new_values jsonb, p_reason text,
    p_category text default 'system', p_patient_id uuid default null)
  returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_audit_id bigint;
  v_job_id uuid := millrace.uuid_or_null(coalesce(p_new_values ->> 'job_id', p_old_values ->> 'job_id'));
begin
  if coalesce(p_table_name, '') = '' or coalesce(p_operation, '') = '' then
    raise exception 'p_table_name and p_operation must not be empty' using errcode = 'MR024';
  end if;
  if coalesce(pg_column_size(p_old_values), 0) + coalesce(pg_column_size(p_new_values), 0) > 262144 then
    raise exception 'p_old_values and p_new_values must have at most 262144 bytes' using errcode = 'MR004';
  end if;
  insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, old_values,
                              new_values, reason, category, patient_id)
  values (millrace.now(), millrace.current_tenant(), millrace.actor(), p_table_name, p_record_id, p_operation, 'logged',
          case when v_job_id is null then '{}' else array[v_job_id] end, p_old_values, p_new_values, p_reason,
          coalesce(p_category, 'system'), p_patient_id)
  returning audit.audit_id into v_audit_id;
  return v_audit_id;
end;
$$;
