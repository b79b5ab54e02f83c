-- millrace.note_failures: trigger, once a statement; every failed delivery of a job of a document goes into the error record of its file (G-09). Content that is poison is
-- quarantined; the dead letter of a job for a whole document ends the document. A page's dead letter does not: the batch goes on without it.
create or replace function millrace.note_failures() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
  v_document millrace.document;
begin
  -- Failures are many where jobs are, and files need not be.
  if not exists (select from millrace.shell_files) then
    return null;
  end if;
  -- Documents before files, as by whoever goes on with one.
  perform from millrace.document d
    where d.file_id in (select millrace.uuid_or_null(j.payload ->> 'shell_file_id') from new_rows n join millrace.job_fact j on j.job_id = n.job_id
                         where n.error ->> 'dead_letter_reason' is not null and j.pipeline is not null and not j.payload ? 'page')
    order by d.file_id for no key update;
  for v_row in
    select n.job_id, n.outcome, n.error, n.worker_id, n.started_at, n.ended_at, n.due_at, n.delivery_count, t.job_type, f.id as file_id, f.tenant_id, f.sha256,
           (j.payload ->> 'page')::integer as page, n.error ->> 'dead_letter_reason' as dead, j.payload ? 'pages' as grouped,
           (select millrace.stage_definition(d.pipeline_hash, t.job_type) from millrace.document d where d.file_id = f.id) as stage
      from new_rows n join millrace.job_fact j on j.job_id = n.job_id and j.pipeline is not null and j.payload ? 'shell_file_id'
      join millrace.job_type t on t.type_id = j.type_id
      join millrace.shell_files f on f.id = millrace.uuid_or_null(j.payload ->> 'shell_file_id') and f.tenant_id = j.tenant_id
     order by f.id, n.attempt_seq
  loop
    -- A picture that somebody asked for is no part of what the file went through; what crashes the drawer is poison all the same.
    if v_row.job_type <> 'document_image' and (v_row.dead is not null or v_row.outcome not in ('throttled', 'blocked', 'cancelled', 'rescheduled')) then
      update millrace.shell_files f
         set updated_at = v_row.ended_at, processing_error = millrace.add_error(f.processing_error, jsonb_build_object(
               'job_type', v_row.job_type, 'error_type', millrace.failure_class(v_row.stage, v_row.outcome, v_row.error),
               'error_message', left(coalesce(v_row.error ->> 'message', v_row.outcome), 1000), 'code', v_row.error ->> 'error_type',
               'retry_count', v_row.delivery_count, 'next_retry_at', case when v_row.dead is null then v_row.due_at end, 'worker_id', v_row.worker_id,
               'duration_ms', round(extract(epoch from v_row.ended_at - v_row.started_at) * 1000), 'timestamp', v_row.ended_at, 'page', v_row.page))
       where f.id = v_row.file_id;
    end if;
    -- Of a group nobody knows which page it was; it is split before it comes to that.
    if v_row.dead = 'poison' and not v_row.grouped then
      insert into millrace.quarantine (tenant_id, sha256, what, stage, reason, file_id, page, quarantined_at)
      select v_row.tenant_id, coalesce(p.content_sha256, v_row.sha256), case when p.page is null then 'file' else 'page' end, v_row.job_type,
             coalesce(v_row.error ->> 'error_type', 'poison'), v_row.file_id, v_row.page, v_row.ended_at
        from (select 1) one left join millrace.page p on p.file_id = v_row.file_id and p.page = v_row.page
      on conflict (tenant_id, sha256) do update set released_at = null, released_by = null, quarantined_at = excluded.quarantined_at, reason = excluded.reason;
    end if;
    if v_row.dead is not null and v_row.page is null then
      select d.* into v_document from millrace.document d where d.file_id = v_row.file_id;
      if not found then
        -- It died before it was begun.
        update millrace.shell_files f set status = 'failed', updated_at = v_row.ended_at where f.id = v_row.file_id and f.status = 'uploaded';
      elsif v_document.state = 'processing' and millrace.awaits_job(v_document, v_row.job_id) then
        perform millrace.end_document(v_document, 'failed', v_row.job_id);
      end if;
    end if;
  end loop;
  return null;
end;
$$;
