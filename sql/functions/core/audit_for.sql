-- millrace.audit_for: audit row of a change to something that belongs to a tenant, in the chain of that tenant, whoever made it.
create or replace function millrace.audit_for(
    p_tenant uuid, p_table text, p_record text, p_action text, p_old jsonb, p_new jsonb, p_reason text, p_patient_id uuid default null)
  returns void language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, old_values, new_values, reason, patient_id)
  values (millrace.now(), p_tenant, millrace.actor(), p_table, p_record,
          case when p_old is null then 'INSERT' when p_new is null then 'DELETE' else 'UPDATE' end, p_action, p_old, p_new, p_reason, p_patient_id);
end;
$$;
