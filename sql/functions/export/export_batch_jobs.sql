-- millrace.export_batch_jobs: the jobs of a batch of exports that the caller may see, in the order of the documents, as millrace.job_status tells them
-- but without results. None looks like no batch.
create or replace function millrace.export_batch_jobs(p_batch_id uuid) returns setof json
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
begin
  return query
  select row_to_json(b)
    from (select m.job_id, m.position from millrace.export_batch_job m where m.batch_id = p_batch_id
          union all
          -- One that was made before batches named their jobs.
          select f.job_id, 0 from millrace.job_fact f
           where f.batch_id = p_batch_id and not exists (select from millrace.export_batch_job m where m.batch_id = p_batch_id)) i
    cross join lateral millrace.job_brief_of(i.job_id, false) b
   where b.job_type = 'export_pdf' and millrace.job_visible(b.tenant_id, b.owner_id, v_scope)
   order by i.position, i.job_id limit 1000;
end;
$$;
