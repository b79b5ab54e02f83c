-- millrace.reconcile_documents: ends documents that nobody works on any more: the job they waited for was cancelled, expired or is gone, or so was the callback of their batch.
-- However many others wait, longer and rightly. Answers how many.
create or replace function millrace.reconcile_documents(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_document millrace.document;
  v_count integer := 0;
begin
  -- Whoever settles a job that a document waits for holds the document, and is passed over; whoever has done so since has changed updated_at.
  for v_document in
    select d.* from millrace.document d left join millrace.batch b on b.batch_id = d.batch_id
     where d.state = 'processing' and d.updated_at < v_now - interval '10 seconds'
       and (d.batch_id is null or b.batch_id is null or b.finished_at is not null)
       and coalesce(millrace.place_of(coalesce(b.callback_job_id, d.job_id)), 'not_found') in ('final', 'not_found')
     order by d.file_id limit p_limit for no key update of d skip locked
  loop
    update millrace.shell_files f
       set processing_error = millrace.add_error(f.processing_error, jsonb_build_object('job_type', v_document.stage,
             'error_type', millrace.failure_class(millrace.stage_definition(v_document.pipeline_hash, v_document.stage), 'permanent', '{"error_type": "cancelled"}'),
             'error_message', 'the job that the document waited for was cancelled, or is gone', 'code', 'cancelled', 'retry_count', 0, 'timestamp', v_now))
     where f.id = v_document.file_id;
    perform millrace.end_document(v_document, 'failed', v_document.job_id);
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
