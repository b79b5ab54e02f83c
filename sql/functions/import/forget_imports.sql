-- millrace.forget_imports: what is known of jobs that were moved over from a source is removed, when nobody wants to move them back and the source's
-- tables are gone: the rows hold payloads of deleted ones. Answers how many. The jobs themselves stay.
create or replace function millrace.forget_imports(p_source text, p_schema text) returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_count bigint;
begin
  delete from millrace.imported_job i where i.source = p_source and i.source_schema = p_schema and (v_scope is null or i.tenant_id = v_scope);
  get diagnostics v_count = row_count;
  if v_count > 0 then
    perform millrace.audit_policy('imported_job', p_source || ' ' || p_schema, jsonb_build_object('jobs', v_count), null, 'Records of moved jobs removed');
  end if;
  return v_count;
end;
$$;
