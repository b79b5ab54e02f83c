-- millrace.list_audit: a page of the audit of the tenant of the call, newest first, behind the entry (p_before_at, p_before_id); of one record, where
-- given. Ten thousand entries at most are looked at: a page may be short, or empty, with `more` true, and last_at and last_id say where to go on.
create or replace function millrace.list_audit(p_before_at timestamptz default null, p_before_id bigint default null, p_action text default null,
    p_table_name text default null, p_record_id text default null, p_patient_id uuid default null, p_limit integer default 100)
  returns json language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_limit integer := least(greatest(coalesce(p_limit, 100), 1), 1000);
  v_at timestamptz := coalesce(p_before_at, 'infinity');
  v_id bigint := coalesce(p_before_id, 9223372036854775807);
  v_rows refcursor;
  v_row millrace.audit;
  v_looked integer := 0;
  v_items json[] := '{}';
begin
  if p_record_id is null then
    open v_rows for select a.* from millrace.audit a where (a.at, a.audit_id) < (v_at, v_id) order by a.at desc, a.audit_id desc;
  else
    open v_rows for select a.* from millrace.audit a where a.record_id = p_record_id and (a.at, a.audit_id) < (v_at, v_id) order by a.at desc, a.audit_id desc;
  end if;
  loop
    fetch v_rows into v_row;
    exit when not found;
    v_looked := v_looked + 1;
    v_at := v_row.at;
    v_id := v_row.audit_id;
    if (v_scope is null or v_row.tenant_id = v_scope) and (p_action is null or v_row.action = p_action)
       and (p_table_name is null or v_row.table_name = p_table_name) and (p_patient_id is null or v_row.patient_id = p_patient_id) then
      v_items := v_items || json_build_object('audit_id', v_row.audit_id, 'at', v_row.at, 'tenant_id', v_row.tenant_id, 'actor', v_row.actor,
        'worker_id', v_row.worker_id, 'table_name', v_row.table_name, 'record_id', v_row.record_id, 'operation', v_row.operation, 'action', v_row.action,
        'jobs', cardinality(v_row.job_ids), 'first_jobs', v_row.job_ids[1:3], 'old_values', v_row.old_values, 'new_values', v_row.new_values,
        'reason', v_row.reason, 'category', v_row.category, 'patient_id', v_row.patient_id);
    end if;
    exit when cardinality(v_items) = v_limit or v_looked = 10000;
  end loop;
  close v_rows;
  return json_build_object('items', array_to_json(v_items), 'more', v_looked = 10000 or cardinality(v_items) = v_limit,
                           'last_at', case when v_looked > 0 then v_at end, 'last_id', case when v_looked > 0 then v_id end);
end;
$$;
