-- millrace.publish_generation: the switch: from one moment to the next readers see the chunks of this generation and none of the one before (F07, B-20 … B-22). In the transaction that settles
-- the job, so it is fenced. Its rows are in document_chunks already (millrace.place_chunks), and two rows of millrace.generation change; of what was replaced a batch is removed here, the rest by the keeper.
-- So it is as short for a million chunks as for a thousand. What is not in place yet is put there now: whoever publishes without having placed does it all in one transaction.
-- MR046 where a chunk is missing or has no vector of the generation's model; then nothing was cleaned up either (G06). A generation that is published already, and a job that the document has
-- left behind, change nothing.
create or replace function millrace.publish_generation(p_job_id uuid, p_generation_id uuid) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_cleared_max constant integer := 1000;
  v_now timestamptz := millrace.now();
  v_document millrace.document := millrace.lock_document(p_job_id);
  v_row millrace.generation;
  v_before uuid;
begin
  if not millrace.awaits_job(v_document, p_job_id) then
    return;
  end if;
  select g.* into v_row from millrace.generation g where g.generation_id = p_generation_id and g.file_id = v_document.file_id for update;
  if not found then
    raise exception 'generation % of document % does not exist', p_generation_id, v_document.file_id using errcode = 'MR046';
  end if;
  if v_row.state <> 'building' then
    return;
  end if;
  if v_row.chunks_placed is distinct from v_row.chunks_total then
    loop
      exit when millrace.place_batch(p_generation_id, 10000) = 0;
    end loop;
  end if;
  update millrace.generation g set state = 'superseded', chunks_placed = greatest(g.chunks_placed, g.chunks_total, 1) where g.file_id = v_document.file_id and g.state = 'published'
    returning g.generation_id into v_before;
  update millrace.generation g set state = 'published', published_at = v_now where g.generation_id = p_generation_id;
  if v_before is not null then
    perform millrace.clear_generation(v_before, v_cleared_max);
  end if;
  perform millrace.audit_for(v_document.tenant_id, 'generation', p_generation_id::text, 'generation_published', null,
    jsonb_build_object('document_id', v_document.file_id, 'chunks', v_row.chunks_total, 'embed_model', v_row.embed_model, 'embed_version', v_row.embed_version, 'job_id', p_job_id),
    'Chunks of a document published', (select f.patient_id from millrace.shell_files f where f.id = v_document.file_id));
end;
$$;
