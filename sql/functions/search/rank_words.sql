-- millrace.rank_words: how well the words of chunks fit a question: of a tenant's chunks (of one owner, where given) whose words are counted in p_config the best p_limit, and those of the lists p_also_….
-- The share says how much of the question a chunk has, 0 to 1: each word counts the more the fewer chunks have it (the weight of BM25), and what it adds is ts_rank of that word alone, which grows with its
-- number and levels off; headings count more than text. Words that no chunk has count as missing.
-- Cost: how many chunks have a word is counted in a sixteenth of them where there are many. Candidates are the chunks with one of the rarest words, as many words as together have up to 3000; frequent words only add to the share of
-- these. A question of frequent words alone ranks the first 6000 of its candidates as they lie.
create or replace function millrace.rank_words(p_tenant_id uuid, p_owner_id uuid, p_config text, p_query text, p_documents uuid[], p_limit integer, p_also_documents uuid[] default '{}', p_also_chunks uuid[] default '{}')
  returns table (document_id uuid, chunk_id uuid, share double precision)
  language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set max_parallel_workers_per_gather = 0 set jit = off
as $$
declare
  v_hidden uuid[] := millrace.hidden_generations(p_tenant_id);
  v_candidates_max constant integer := 3000;
  v_terms tsquery[] := millrace.search_terms(p_config::regconfig, p_query);
  v_demands tsquery := millrace.search_demands(p_config::regconfig, p_query);
  v_scope tsquery := millrace.quote_lexeme(case when p_owner_id is null then E'\x01t' || p_tenant_id else E'\x01o' || p_owner_id end) && millrace.quote_lexeme(E'\x01c' || p_config);
  v_sample constant tsquery := millrace.quote_lexeme(E'\x01b0');
  v_sample_from constant integer := 5000;
  v_weights double precision[];
  v_weight double precision;
  v_total bigint;
  v_any tsquery;
begin
  if v_terms = '{}' and v_demands is null then
    return;
  end if;
  -- Of the tenant's published generations; a number to compare others with, so what is being switched meanwhile does not matter.
  select coalesce(sum(g.chunks_total), 0) into v_total from millrace.generation g
   where g.tenant_id = p_tenant_id and g.state = 'published' and (p_owner_id is null or exists (select from millrace.shell_files f where f.id = g.file_id and f.owner_id = p_owner_id));
  with sampled as materialized (
    select t.term, case when v_total > v_sample_from then (select count(*) from millrace.document_chunks c
                     where (c.words || array_to_tsvector(array[E'\x01t' || c.tenant_id::text, E'\x01o' || c.owner_id::text, E'\x01c' || c.config, E'\x01b' || right(c.chunk_id::text, 1)])) @@ (v_scope && v_sample && t.term) and c.generation_id <> all (v_hidden)) else 0 end as chunks
      from unnest(v_terms) t(term)),
  counted as materialized (
    select s.term, case when s.chunks >= 200 then 16 * s.chunks
                        else (select count(*) from millrace.document_chunks c
                               where (c.words || array_to_tsvector(array[E'\x01t' || c.tenant_id::text, E'\x01o' || c.owner_id::text, E'\x01c' || c.config, E'\x01b' || right(c.chunk_id::text, 1)])) @@ (v_scope && s.term) and c.generation_id <> all (v_hidden)) end as chunks
      from sampled s),
  weighed as (
    select c.term, c.chunks, ln(1 + (greatest(v_total, max(c.chunks) over ()) - c.chunks + 0.5) / (c.chunks + 0.5)) as weight, sum(c.chunks) over (order by c.chunks, c.term::text) - c.chunks as before from counted c)
  select array_agg(w.term order by w.chunks, w.term::text) filter (where w.chunks > 0), array_agg(w.weight order by w.chunks, w.term::text) filter (where w.chunks > 0), sum(w.weight),
         string_agg('(' || w.term::text || ')', ' | ') filter (where w.chunks > 0 and (w.before = 0 or w.before + w.chunks <= v_candidates_max))::tsquery
    into v_terms, v_weights, v_weight, v_any from weighed w;
  if v_any is null then
    if v_demands is null then
      return;
    end if;
    -- Demands alone: what keeps them is found, whatever else the question says.
    v_terms := array[v_demands];
    v_weights := array[1];
    v_weight := 1;
  end if;
  return query
  with candidate as materialized (
    select c.document_id, c.chunk_id, c.words from millrace.document_chunks c
     where (c.words || array_to_tsvector(array[E'\x01t' || c.tenant_id::text, E'\x01o' || c.owner_id::text, E'\x01c' || c.config, E'\x01b' || right(c.chunk_id::text, 1)]))
           @@ (v_scope && coalesce(v_any, v_demands) && coalesce(v_demands, v_scope))
       and c.tenant_id = p_tenant_id and (p_owner_id is null or c.owner_id = p_owner_id) and (p_documents is null or c.document_id = any (p_documents)) and c.generation_id <> all (v_hidden)
     limit 2 * v_candidates_max),
  ranked as materialized (
    select r.document_id, r.chunk_id, r.share
      from (select c.document_id, c.chunk_id,
                   (select sum(t.weight * ts_rank('{0.1, 0.2, 0.6, 1.0}', c.words, t.term)) from unnest(v_terms, v_weights) t(term, weight)) / v_weight as share
              from candidate c) r
     where r.share > 0 or v_any is null
     order by r.share desc, r.document_id, r.chunk_id limit p_limit)
  select r.document_id, r.chunk_id, r.share from ranked r
  union
  select c.document_id, c.chunk_id, (select sum(t.weight * ts_rank('{0.1, 0.2, 0.6, 1.0}', c.words, t.term)) from unnest(v_terms, v_weights) t(term, weight)) / v_weight
    from unnest(p_also_documents, p_also_chunks) a(document_id, chunk_id)
    join millrace.document_chunks c on c.document_id = a.document_id and c.chunk_id = a.chunk_id and c.config = p_config and c.generation_id <> all (v_hidden);
end;
$$;
