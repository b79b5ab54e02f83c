-- millrace.reuse_vectors: vectors of equal texts, by the same model and version, that the tenant has already are taken over, p_limit at most; nobody is asked or paid. Never from another tenant
-- (I07). p_after, p_through: of the chunks behind the one and up to the other; else of all. Fenced by the lease. Answers how many.
drop function if exists millrace.reuse_vectors(uuid, uuid, uuid, integer);  -- Here, so that whoever calls it is changed in the same transaction.
create or replace function millrace.reuse_vectors(p_job_id uuid, p_token uuid, p_generation_id uuid, p_limit integer default 1000, p_after integer default -1, p_through integer default null) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_row millrace.generation := millrace.hold_generation(p_job_id, p_token, p_generation_id);
  v_batch uuid := millrace.new_id();
  v_count integer;
begin
  with waiting as materialized (
    select b.generation_id, b.chunk_id, b.chunk_ord, b.tenant_id, b.document_id, b.embed_sha256 from millrace.document_chunk_buffer b
     where b.generation_id = p_generation_id and b.chunk_ord > coalesce(p_after, -1) and b.chunk_ord <= coalesce(p_through, 2147483647)
       and not exists (select from millrace.document_vector_buffer v where v.generation_id = b.generation_id and v.chunk_id = b.chunk_id
                          and v.embed_model = v_row.embed_model and v.embed_version = v_row.embed_version)),
  -- A text that stands there a thousand times is looked up once, and of chunks that wait for its vector as well only the first are looked through: those get theirs first.
  known as materialized (
    select b.embed_sha256, k.vector, k.vector_sha, k.signature
      from (select distinct w.tenant_id, w.embed_sha256 from waiting w) b
      cross join lateral (
      (select c.embedding as vector, c.vector_sha, c.signature from millrace.document_chunks c
        where c.tenant_id = b.tenant_id and c.embed_sha256 = b.embed_sha256 and c.embed_model = v_row.embed_model and c.embed_version = v_row.embed_version limit 1)
      union all
      (select v.vector, v.vector_sha, v.signature
         from (select o.generation_id, o.chunk_id from millrace.document_chunk_buffer o where o.tenant_id = b.tenant_id and o.embed_sha256 = b.embed_sha256 limit 1000) o
         join millrace.document_vector_buffer v on v.generation_id = o.generation_id and v.chunk_id = o.chunk_id
        where v.embed_model = v_row.embed_model and v.embed_version = v_row.embed_version limit 1)
      limit 1) k)
  insert into millrace.document_vector_buffer (buffer_id, generation_id, chunk_id, tenant_id, document_id, embed_model, embed_version, vector, vector_sha, signature, batch_id, created_at)
  select millrace.new_id(), b.generation_id, b.chunk_id, b.tenant_id, b.document_id, v_row.embed_model, v_row.embed_version, k.vector, k.vector_sha, k.signature, v_batch, v_now
    from waiting b join known k on k.embed_sha256 = b.embed_sha256
   order by b.chunk_ord limit least(greatest(coalesce(p_limit, 1000), 1), 1000);
  get diagnostics v_count = row_count;
  if v_count > 0 then
    update millrace.generation g set vectors_done = g.vectors_done + v_count where g.generation_id = p_generation_id;
  end if;
  return v_count;
end;
$$;
