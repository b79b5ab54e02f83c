-- millrace.count_chunks: how many chunks have what a query asks for, of those that p_scope names (tenant, owner or language: words of the index).
-- Where the tenant or owner has many (p_total) what is frequent is counted in a sixteenth of them.
create or replace function millrace.count_chunks(p_scope tsquery, p_query tsquery, p_hidden uuid[], p_total bigint) returns bigint
  language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set max_parallel_workers_per_gather = 0 set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_sample_from constant integer := 5000;
  v_sample constant tsquery := millrace.quote_lexeme(E'\x01b0');
  v_count bigint;
begin
  if p_total > v_sample_from then
    select count(*) into v_count from millrace.document_chunks c
     where (c.words || array_to_tsvector(array[E'\x01t' || c.tenant_id::text, E'\x01o' || c.owner_id::text, E'\x01c' || c.config, E'\x01b' || right(c.chunk_id::text, 1)])) @@ (p_scope && v_sample && p_query)
       and c.generation_id <> all (p_hidden);
    if v_count >= 200 then
      return 16 * v_count;
    end if;
  end if;
  select count(*) into v_count from millrace.document_chunks c
   where (c.words || array_to_tsvector(array[E'\x01t' || c.tenant_id::text, E'\x01o' || c.owner_id::text, E'\x01c' || c.config, E'\x01b' || right(c.chunk_id::text, 1)])) @@ (p_scope && p_query)
     and c.generation_id <> all (p_hidden);
  return v_count;
end;
$$;
