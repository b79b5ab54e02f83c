-- millrace.settle_chunks: all chunks of a generation are in its buffer: how many there are is known from now on (B-13), and what lies behind the last one goes. In the transaction that settles
-- the job; a job that the document has left behind changes nothing. MR046 where some are missing.
create or replace function millrace.settle_chunks(p_job_id uuid, p_generation_id uuid, p_total integer) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_document millrace.document := millrace.lock_document(p_job_id);
  v_count integer;
begin
  if not millrace.awaits_job(v_document, p_job_id) then
    return;
  end if;
  update millrace.generation g set chunks_total = p_total where g.generation_id = p_generation_id and g.file_id = v_document.file_id and g.state = 'building';
  if not found then
    return;
  end if;
  delete from millrace.document_chunk_buffer b where b.generation_id = p_generation_id and b.chunk_ord >= p_total;
  select count(*) into v_count from millrace.document_chunk_buffer b where b.generation_id = p_generation_id;
  if v_count <> p_total then
    raise exception 'generation % has % of % chunks', p_generation_id, v_count, p_total using errcode = 'MR046';
  end if;
end;
$$;
