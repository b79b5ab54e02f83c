-- millrace.reconcile_documents: ends documents that nobody works on any more: the job they waited for was cancelled, expired or is gone, or so was the callback of their batch.
create or replace function millrace.reconcile_documents(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_document millrace.document;
  v_count integer := 0;
begin
  for v_document in
    select d.* from millrace.document d where d.state = 'processing' and d.updated_at < millrace.now() - interval '10 seconds'
     order by d.updated_at limit p_limit for no key update skip locked
  loop
    if v_document.batch_id is not null then
      v_document.job_id := (select b.callback_job_id from millrace.batch b where b.batch_id = v_document.batch_id and b.finished_at is not null);
      continue when v_document.job_id is null and exists (select from millrace.batch b where b.batch_id = v_document.batch_id and b.finished_at is null);
    end if;
    -- A job that settles goes on with the document before it lets its lease go, and for that it needs the row that is held here.
    continue when v_document.job_id is not null and millrace.place_of(v_document.job_id) not in ('final', 'not_found');
    perform millrace.end_document(v_document, 'failed', v_document.job_id);
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
