-- millrace.note_dependents: leaves a note to millrace.advance for every job that waits for one of these, which have just ended.
create or replace function millrace.note_dependents(p_job_ids uuid[]) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  insert into millrace.handoff (kind, tenant_id, job_id)
  select distinct 'dependency', d.tenant_id, d.job_id from millrace.dependency d where d.depends_on = any (p_job_ids);
end;
$$;
