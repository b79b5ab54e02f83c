-- millrace.release_imports: takes up to p_limit jobs that were moved over from a source and nobody has been given yet out again: they end cancelled, and
-- the rows that say where they came from are answered and forgotten, for the caller to put back in the same transaction. A job that
-- somebody claims at this moment is passed over, and one that was ever delivered stays: half of its work may be done.
create or replace function millrace.release_imports(p_source text, p_schema text, p_limit integer) returns setof millrace.imported_job
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_ids uuid[];
  v_id uuid;
begin
  v_ids := array(
    select r.job_id from millrace.imported_job i join millrace.ready r on r.job_id = i.job_id
     where i.source = p_source and i.source_schema = p_schema and (v_scope is null or i.tenant_id = v_scope) and r.delivery_count = 0
     order by r.job_id limit p_limit for update of r skip locked);
  v_ids := v_ids || array(
    select d.job_id from millrace.imported_job i join millrace.delayed d on d.job_id = i.job_id
     where i.source = p_source and i.source_schema = p_schema and (v_scope is null or i.tenant_id = v_scope) and d.delivery_count = 0
     order by d.job_id limit p_limit - cardinality(v_ids) for update of d skip locked);
  foreach v_id in array v_ids loop
    if millrace.cancel_one(v_id, v_scope, 'moved back to ' || p_source) <> 'cancelled' then
      raise exception 'job % changed while it was held', v_id using errcode = '40001', hint = 'repeat the transaction';
    end if;
  end loop;
  return query
  with gone as (delete from millrace.imported_job i where i.job_id = any (v_ids) returning i.*)
  select g.* from gone g order by g.job_id;
end;
$$;
