-- millrace.put_vectors: the vectors of one batch, each for the chunk at the same place of p_chunk_ids, in a transaction of their own (G03); with them ends the call that was paid for them
-- (p_call_id and p_end as in millrace.end_call, or nulls). Fenced by the lease. Everything is checked before anything is written (G12): 1 to 256 different chunks of the generation, as many
-- vectors, of the dimension of the model, of numbers that are finite and not all zero; else MR045. Said again it changes nothing; a vector whose hash differs replaces the one there (B-18).
-- p_vectors: texts like {0.1,0.2}. Answers how many were written.
create or replace function millrace.put_vectors(p_job_id uuid, p_token uuid, p_generation_id uuid, p_batch_id uuid, p_chunk_ids uuid[], p_vectors text[], p_shas text[], p_signatures text[],
    p_call_id uuid default null, p_end jsonb default null) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_row millrace.generation := millrace.hold_generation(p_job_id, p_token, p_generation_id);
  v_dimension integer;
  v_size integer := coalesce(cardinality(p_chunk_ids), 0);
  v_bad text;
  v_count integer;
  v_new integer;
begin
  if v_size not between 1 and 256 or v_size <> coalesce(cardinality(p_vectors), 0) or v_size <> coalesce(cardinality(p_shas), 0) or v_size <> coalesce(cardinality(p_signatures), 0) then
    raise exception 'a batch has 1 to 256 chunks and a vector for each: % chunks, % vectors', v_size, coalesce(cardinality(p_vectors), 0) using errcode = 'MR045';
  end if;
  if (select count(distinct b.chunk_id) from millrace.document_chunk_buffer b where b.generation_id = p_generation_id and b.chunk_id = any (p_chunk_ids)) <> v_size then
    raise exception 'chunks of the batch are named twice, or are not of generation %', p_generation_id using errcode = 'MR045';
  end if;
  -- The first answer of a model says how long its vectors are.
  update millrace.embedding_model m set dimension = cardinality(p_vectors[1]::real[])
   where m.embed_model = v_row.embed_model and m.embed_version = v_row.embed_version and m.dimension is null;
  select m.dimension into strict v_dimension from millrace.embedding_model m where m.embed_model = v_row.embed_model and m.embed_version = v_row.embed_version;
  select format('vector %s: %s', u.n, w.why) into v_bad
    from unnest(p_vectors) with ordinality u(v, n)
    cross join lateral (select case
      when cardinality(u.v::real[]) <> v_dimension then format('%s components, %s %s has %s', cardinality(u.v::real[]), v_row.embed_model, v_row.embed_version, v_dimension)
      when exists (select from unnest(u.v::real[]) x where x is null or x in ('NaN', 'Infinity', '-Infinity')) then 'a component is no finite number'
      when not exists (select from unnest(u.v::real[]) x where x <> 0) then 'all components are zero'
      when length(p_signatures[u.n]) <> v_dimension then 'its signature has another length' end as why) w
   where w.why is not null order by u.n limit 1;
  if v_bad is not null then
    raise exception '%', v_bad using errcode = 'MR045';
  end if;
  with written as (
    insert into millrace.document_vector_buffer as x (buffer_id, generation_id, chunk_id, tenant_id, document_id, embed_model, embed_version, vector, vector_sha, signature, batch_id, created_at)
    select millrace.new_id(), p_generation_id, u.chunk_id, v_row.tenant_id, v_row.file_id, v_row.embed_model, v_row.embed_version, u.v::real[], u.sha, u.bits::bit varying, p_batch_id, v_now
      from unnest(p_chunk_ids, p_vectors, p_shas, p_signatures) u(chunk_id, v, sha, bits)
    on conflict (generation_id, chunk_id, embed_model, embed_version) do update
       set vector = excluded.vector, vector_sha = excluded.vector_sha, signature = excluded.signature, batch_id = excluded.batch_id, created_at = excluded.created_at
     where x.vector_sha <> excluded.vector_sha
    returning (x.xmax = 0) as new)
  select count(*), count(*) filter (where w.new) into v_count, v_new from written w;
  -- One that was replaced counts once (K03).
  if v_new > 0 then
    update millrace.generation g set vectors_done = g.vectors_done + v_new where g.generation_id = p_generation_id;
  end if;
  if p_call_id is not null then
    perform millrace.end_call(p_call_id, p_end);
  end if;
  return v_count;
end;
$$;
