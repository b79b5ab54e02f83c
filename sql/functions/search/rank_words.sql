-- millrace.rank_words: how well the words of chunks fit a question: of a tenant's chunks (of one owner, where given) whose words are counted in p_config the best p_limit, and those of the lists p_also_….
-- The share says how much of the question a chunk has, 0 to 1: each word counts the more the fewer chunks have it (the weight of BM25), and what it adds is ts_rank of that word alone, which grows with its
-- number and levels off; headings count more than text. Words that stand for it (related_words) count with it as one word, which weighs between the word itself and a word as frequent as all of them together; what adds more
-- counts. Words that questions are made of weigh less (term_weight), words that no chunk has count as missing.
-- Cost: how many chunks have a word is counted in a sixteenth of them where there are many. Candidates are the chunks with one of the rarest words (or of their relations), as many words as together have up to 3000; frequent words only add to the share of
-- these. A question of frequent words alone ranks the first 6000 of its candidates as they lie.
create or replace function millrace.rank_words(p_tenant_id uuid, p_owner_id uuid, p_config text, p_query text, p_documents uuid[], p_limit integer, p_also_documents uuid[] default '{}', p_also_chunks uuid[] default '{}')
  returns table (document_id uuid, chunk_id uuid, share double precision)
  language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set max_parallel_workers_per_gather = 0 set jit = off
as $$
declare
  v_hidden uuid[] := millrace.hidden_generations(p_tenant_id);
  v_candidates_max constant integer := 3000;
  v_ranks constant real[] := '{0.1, 0.2, 0.6, 1.0}';
  v_own_part constant double precision := 0.4;  -- Of the weight of related words: how rare the word itself is, the rest being how rare all of them are.
  v_rank_max constant double precision := 0.6;  -- What a word that stands again and again in a text comes to, and so much of several words, too.
  v_terms tsquery[] := millrace.search_terms(p_config::regconfig, p_query);
  v_wide tsquery[] := millrace.related_words(p_config::regconfig, v_terms);
  v_demands tsquery := millrace.search_demands(p_config::regconfig, p_query);
  v_scope tsquery := millrace.quote_lexeme(case when p_owner_id is null then E'\x01t' || p_tenant_id else E'\x01o' || p_owner_id end) && millrace.quote_lexeme(E'\x01c' || p_config);
  v_sample constant tsquery := millrace.quote_lexeme(E'\x01b0');
  v_sample_from constant integer := 5000;
  v_weights double precision[];
  v_wide_weights double precision[];
  v_wide_words integer[];
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
  with asked as (
    select t.term, t.term || t.related as wide, millrace.term_weight(p_config::regconfig, t.term) as says from unnest(v_terms, v_wide) t(term, related)),
  query as (
    select a.term as query from asked a union select a.wide from asked a where a.wide is not null),
  sampled as materialized (
    select q.query, case when v_total > v_sample_from then (select count(*) from millrace.document_chunks c
                     where (c.words || array_to_tsvector(array[E'\x01t' || c.tenant_id::text, E'\x01o' || c.owner_id::text, E'\x01c' || c.config, E'\x01b' || right(c.chunk_id::text, 1)])) @@ (v_scope && v_sample && q.query) and c.generation_id <> all (v_hidden)) else 0 end as chunks
      from query q),
  counted as materialized (
    select s.query, case when s.chunks >= 200 then 16 * s.chunks
                         else (select count(*) from millrace.document_chunks c
                                where (c.words || array_to_tsvector(array[E'\x01t' || c.tenant_id::text, E'\x01o' || c.owner_id::text, E'\x01c' || c.config, E'\x01b' || right(c.chunk_id::text, 1)])) @@ (v_scope && s.query) and c.generation_id <> all (v_hidden)) end as chunks
      from sampled s),
  weighed as materialized (
    select c.query, c.chunks, ln(1 + (greatest(v_total, max(c.chunks) over ()) - c.chunks + 0.5) / (c.chunks + 0.5)) as weight, sum(c.chunks) over (order by c.chunks, c.query::text) - c.chunks as before from counted c),
  term as (
    select a.term, a.says * t.weight as weight, a.wide, a.says * (v_own_part * t.weight + (1 - v_own_part) * w.weight) as wide_weight, t.chunks as own_chunks, coalesce(w.chunks, t.chunks) as chunks
      from asked a join weighed t on t.query = a.term left join weighed w on w.query = a.wide)
  select array_agg(t.term order by t.chunks, t.term::text) filter (where t.chunks > 0), array_agg(t.weight order by t.chunks, t.term::text) filter (where t.chunks > 0),
         array_agg(t.wide order by t.chunks, t.term::text) filter (where t.chunks > 0), array_agg(t.wide_weight order by t.chunks, t.term::text) filter (where t.chunks > 0),
         array_agg((numnode(t.wide) + 1) / 2 order by t.chunks, t.term::text) filter (where t.chunks > 0), sum(case when t.own_chunks = 0 and t.chunks > 0 then t.wide_weight else t.weight end),
         (select string_agg('(' || w.query::text || ')', ' | ')::tsquery from weighed w where w.chunks > 0 and (w.before = 0 or w.before + w.chunks <= v_candidates_max))
    into v_terms, v_weights, v_wide, v_wide_weights, v_wide_words, v_weight, v_any from term t;
  if v_any is null then
    if v_demands is null then
      return;
    end if;
    -- Demands alone: what keeps them is found, whatever else the question says.
    v_terms := array[v_demands];
    v_weights := array[1];
    v_wide := array[null];
    v_wide_weights := array[null];
    v_wide_words := array[null];
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
                   (select sum(greatest(t.weight * ts_rank(v_ranks, c.words, t.term), t.wide_weight * least(t.wide_words * ts_rank(v_ranks, c.words, t.wide), v_rank_max)))
                      from unnest(v_terms, v_weights, v_wide, v_wide_weights, v_wide_words) t(term, weight, wide, wide_weight, wide_words)) / v_weight as share
              from candidate c) r
     where r.share > 0 or v_any is null
     order by r.share desc, r.document_id, r.chunk_id limit p_limit)
  select r.document_id, r.chunk_id, r.share from ranked r
  union
  select c.document_id, c.chunk_id, (select sum(greatest(t.weight * ts_rank(v_ranks, c.words, t.term), t.wide_weight * least(t.wide_words * ts_rank(v_ranks, c.words, t.wide), v_rank_max)))
                      from unnest(v_terms, v_weights, v_wide, v_wide_weights, v_wide_words) t(term, weight, wide, wide_weight, wide_words)) / v_weight
    from unnest(p_also_documents, p_also_chunks) a(document_id, chunk_id)
    join millrace.document_chunks c on c.document_id = a.document_id and c.chunk_id = a.chunk_id and c.config = p_config and c.generation_id <> all (v_hidden);
end;
$$;
