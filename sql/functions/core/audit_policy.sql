-- millrace.audit_policy: audit row of a change to a policy, limit or setting (no job concerned).
create or replace function millrace.audit_policy(p_table text, p_record text, p_old jsonb, p_new jsonb, p_reason text)
  returns void language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, old_values, new_values, reason)
  values (millrace.now(), millrace.current_tenant(), millrace.actor(), p_table, p_record,
          case when p_old is null then 'INSERT' when p_new is null then 'DELETE' else 'UPDATE' end, 'policy', p_old, p_new, p_reason);
end;
$$;
