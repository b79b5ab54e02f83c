-- millrace.generation_json: a generation and how far it is, counted from its rows, so that no figure is ever above the total (K03). chunks_done and embeds_done are those of B-24; of one that is
-- not being built any more the rows are elsewhere, and all of it was done.
create or replace function millrace.generation_json(p_generation millrace.generation) returns jsonb
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('generation_id', p_generation.generation_id, 'state', p_generation.state, 'parsed_sha256', encode(p_generation.parsed_sha256, 'hex'),
           'chunks_version', p_generation.chunker_name || '@' || p_generation.chunker_version, 'embed_model', p_generation.embed_model,
           'embed_version', p_generation.embed_version, 'dimension', (select m.dimension from millrace.embedding_model m
              where m.embed_model = p_generation.embed_model and m.embed_version = p_generation.embed_version),
           'chunks_total', p_generation.chunks_total, 'chunks_done', case when p_generation.state = 'building' then b.chunks else p_generation.chunks_total end,
           'embeds_done', case when p_generation.state = 'building' then b.vectors else p_generation.chunks_total end,
           'chunks_in_buffer', b.chunks, 'vectors_in_buffer', b.vectors)
    from (select (select count(*) from millrace.document_chunk_buffer c where c.generation_id = p_generation.generation_id) as chunks,
                 (select count(*) from millrace.document_vector_buffer v where v.generation_id = p_generation.generation_id
                     and v.embed_model = p_generation.embed_model and v.embed_version = p_generation.embed_version) as vectors) b
$$;
