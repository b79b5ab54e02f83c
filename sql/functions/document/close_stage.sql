-- millrace.close_stage: all jobs of a stage per page have ended: pages without a result of it are given up, with the reason their job had.
create or replace function millrace.close_stage(p_document millrace.document, p_stage text) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  update millrace.page p
     set state = 'failed', failed_stage = p_stage,
         failed_reason = coalesce((
           select coalesce(h.error ->> 'error_type', h.reason, h.status::text)
             from millrace.job_fact j join millrace.job_history h on h.job_id = j.job_id
            where j.batch_id = p_document.batch_id and (j.payload ->> 'page')::integer = p.page order by h.finished_at desc limit 1), 'missing')
   where p.file_id = p_document.file_id and p.state <> 'failed'
     and not exists (select from millrace.page_result r where r.file_id = p.file_id and r.page = p.page and r.stage = p_stage);
end;
$$;
