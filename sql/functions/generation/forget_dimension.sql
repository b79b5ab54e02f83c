-- millrace.forget_dimension: what was learned of the length of a model's vectors is forgotten, with the vectors that are not published yet: the next answer teaches it anew (B-14). For an operator, as
-- the owner of the schema, where the first answer of a service was a wrong one and all right ones are refused since (MR045). MR045 where chunks of that model are published, or in place for it: those
-- need another version. Lock cost: nobody reads or writes generations while it runs; it waits five seconds for that
-- at most (55P03: call it again), since searches stand in line behind it. Answers how many vectors were removed.
create or replace function millrace.forget_dimension(p_embed_model text, p_embed_version text) returns bigint
  language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '5s'
as $$
declare
  v_count bigint;
begin
  -- Whoever brings vectors has read its generation before it looks at the dimension: none is on the way now.
  lock table millrace.generation in access exclusive mode;
  if exists (select from millrace.generation g
              where g.embed_model = p_embed_model and g.embed_version = p_embed_version and (g.state = 'published' or g.chunks_placed > 0)) then
    raise exception 'chunks of % % are published', p_embed_model, p_embed_version using errcode = 'MR045', hint = 'another model must have another version';
  end if;
  update millrace.embedding_model m set dimension = null where m.embed_model = p_embed_model and m.embed_version = p_embed_version;
  if not found then
    raise exception 'no model % % is known', p_embed_model, p_embed_version using errcode = 'MR024';
  end if;
  delete from millrace.document_vector_buffer v where v.embed_model = p_embed_model and v.embed_version = p_embed_version;
  get diagnostics v_count = row_count;
  update millrace.generation g set vectors_done = 0
   where g.embed_model = p_embed_model and g.embed_version = p_embed_version and g.state = 'building' and g.vectors_done <> 0;
  return v_count;
end;
$$;
