-- millrace.generation_json: a generation and how far it is, by the figures that every batch keeps in its own transaction, so that none is ever above the total (K03). chunks_done and embeds_done are
-- those of B-24; of one that is not being built any more all of it was done. What is not in place yet is in the buffers.
create or replace function millrace.generation_json(p_generation millrace.generation) returns jsonb
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('generation_id', p_generation.generation_id, 'state', p_generation.state, 'parsed_sha256', encode(p_generation.parsed_sha256, 'hex'),
           'chunks_version', p_generation.chunker_name || '@' || p_generation.chunker_version, 'embed_model', p_generation.embed_model,
           'embed_version', p_generation.embed_version, 'dimension', (select m.dimension from millrace.embedding_model m
              where m.embed_model = p_generation.embed_model and m.embed_version = p_generation.embed_version),
           'chunks_total', p_generation.chunks_total, 'chunks_done', case when p_generation.state = 'building' then p_generation.chunks_done else p_generation.chunks_total end,
           'embeds_done', case when p_generation.state = 'building' then p_generation.vectors_done else p_generation.chunks_total end,
           'chunks_in_buffer', case when p_generation.state = 'building' then greatest(p_generation.chunks_done - p_generation.chunks_placed, 0) else 0 end,
           'vectors_in_buffer', case when p_generation.state = 'building' then greatest(p_generation.vectors_done - p_generation.chunks_placed, 0) else 0 end)
$$;
