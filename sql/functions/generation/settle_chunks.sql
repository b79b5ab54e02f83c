-- millrace.settle_chunks: all chunks of a generation are in its buffer: how many there are is known from now on (B-13), and what lies behind the last one goes. In the transaction that settles
-- the job; a job that the document has left behind changes nothing. MR046 where some are missing.
create or replace function millrace.settle_chunks(p_job_id uuid, p_generation_id uuid, p_total integer) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_document millrace.document := millrace.lock_document(p_job_id);
  v_row millrace.generation;
  v_chunks integer;
  v_vectors integer;
  v_placed integer;
begin
  if not millrace.awaits_job(v_document, p_job_id) then
    return;
  end if;
  update millrace.generation g set chunks_total = p_total where g.generation_id = p_generation_id and g.file_id = v_document.file_id and g.state = 'building'
    returning g.* into v_row;
  if not found then
    return;
  end if;
  with gone as (
    delete from millrace.document_chunk_buffer b where b.generation_id = p_generation_id and b.chunk_ord >= p_total returning b.chunk_id)
  select count(*), (select count(*) from gone x join millrace.document_vector_buffer v on v.generation_id = p_generation_id and v.chunk_id = x.chunk_id
                     where v.embed_model = v_row.embed_model and v.embed_version = v_row.embed_version) into v_chunks, v_vectors from gone;
  delete from millrace.document_chunks c where c.generation_id = p_generation_id and c.chunk_ord >= p_total;
  get diagnostics v_placed = row_count;
  update millrace.generation g
     set chunks_done = g.chunks_done - v_chunks - v_placed, vectors_done = g.vectors_done - v_vectors - v_placed, chunks_placed = g.chunks_placed - v_placed
   where g.generation_id = p_generation_id returning g.chunks_done into v_chunks;
  if v_chunks <> p_total then
    raise exception 'generation % has % of % chunks', p_generation_id, v_chunks, p_total using errcode = 'MR046';
  end if;
end;
$$;
