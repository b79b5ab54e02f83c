-- millrace.clear_generation: removes p_limit rows at most of a generation that is not published from document_chunks; nobody sees them. Answers how many.
create or replace function millrace.clear_generation(p_generation_id uuid, p_limit integer) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  perform from millrace.generation g where g.generation_id = p_generation_id and g.state <> 'published' for no key update;
  if not found then
    return 0;
  end if;
  delete from millrace.document_chunks c using (
    select x.generation_id, x.chunk_ord from millrace.document_chunks x where x.generation_id = p_generation_id order by x.chunk_ord limit p_limit) s
   where c.generation_id = s.generation_id and c.chunk_ord = s.chunk_ord;
  get diagnostics v_count = row_count;
  -- As long as one may be left it is hidden.
  update millrace.generation g
     set chunks_placed = case when v_count < p_limit then 0 else greatest(g.chunks_placed - v_count, 1) end,
         chunks_done = case when g.state = 'building' then greatest(g.chunks_done - v_count, 0) else g.chunks_done end,
         vectors_done = case when g.state = 'building' then greatest(g.vectors_done - v_count, 0) else g.vectors_done end
   where g.generation_id = p_generation_id;
  return v_count;
end;
$$;
