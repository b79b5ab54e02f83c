-- millrace.rank_vectors: the chunks of a tenant (of one owner, where given) nearest to a vector, by cosine, among those of its model and version.
-- Two passes: the signatures of all chunks, from an index, by the number of bits that differ; then the vectors of the nearest p_near. Chunks that do not keep the demands of the question are passed over.
create or replace function millrace.rank_vectors(p_tenant_id uuid, p_owner_id uuid, p_vector real[], p_embed_model text, p_embed_version text, p_query text, p_documents uuid[], p_limit integer,
    p_near integer default 200)
  returns table (document_id uuid, chunk_id uuid, cosine double precision)
  language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set max_parallel_workers_per_gather = 0 set jit = off
as $$
declare
  v_hidden uuid[] := millrace.hidden_generations(p_tenant_id);
  v_signature bit varying := millrace.vector_signature(p_vector);
  v_length double precision := (select sqrt(sum(v.value::double precision * v.value)) from unnest(p_vector) v(value));
  v_demands jsonb := (select jsonb_object_agg(c.config, d.demands::text) from unnest(millrace.search_configs(p_tenant_id)) c(config)
                       cross join lateral (select millrace.search_demands(c.config::regconfig, p_query) as demands) d where d.demands is not null);
begin
  if v_demands is null then
    return query
    with near as materialized (
      select c.document_id, c.chunk_id from millrace.document_chunks c
       where c.tenant_id = p_tenant_id and c.embed_model = p_embed_model and c.embed_version = p_embed_version and length(c.signature) = length(v_signature)
         and (p_owner_id is null or c.owner_id = p_owner_id) and (p_documents is null or c.document_id = any (p_documents)) and c.generation_id <> all (v_hidden)
       order by bit_count(c.signature # v_signature), c.document_id, c.chunk_id limit p_near)
    select n.document_id, n.chunk_id, millrace.vector_cosine(c.embedding::real[], p_vector, v_length) as cosine
      from near n join millrace.document_chunks c on c.document_id = n.document_id and c.chunk_id = n.chunk_id and c.generation_id <> all (v_hidden)
     order by 3 desc, 1, 2 limit p_limit;
  else
    return query
    with near as materialized (
      select c.document_id, c.chunk_id from millrace.document_chunks c
       where c.tenant_id = p_tenant_id and c.embed_model = p_embed_model and c.embed_version = p_embed_version and length(c.signature) = length(v_signature)
         and (p_owner_id is null or c.owner_id = p_owner_id) and (p_documents is null or c.document_id = any (p_documents)) and c.generation_id <> all (v_hidden)
         and (not v_demands ? c.config or c.words @@ (v_demands ->> c.config)::tsquery)
       order by bit_count(c.signature # v_signature), c.document_id, c.chunk_id limit p_near)
    select n.document_id, n.chunk_id, millrace.vector_cosine(c.embedding::real[], p_vector, v_length) as cosine
      from near n join millrace.document_chunks c on c.document_id = n.document_id and c.chunk_id = n.chunk_id and c.generation_id <> all (v_hidden)
     order by 3 desc, 1, 2 limit p_limit;
  end if;
end;
$$;
