-- millrace.rank_words: how well the words of chunks fit a question: of a tenant's chunks (of one owner, where given) whose words are counted in p_config the best p_limit, and those of the lists p_also_….
-- The share says how much of the question a chunk has, 0 to 1: each word counts the more the fewer chunks have it (the weight of BM25), and what it adds is ts_rank of that word alone, which grows with its
-- number and levels off; headings count more than text. Words that stand for it (related_words) count with it as one word, which weighs between the word itself and a word as frequent as all of them together; what adds more
-- counts. Words that questions are made of weigh less (term_weight), words that no chunk has count as missing. How many chunks have a word is asked of all the tenant's, whatever p_configs they are counted in
-- (terms_anywhere), so that shares of several configurations can be compared; p_counts has what was counted for all of them (count_anywhere).
-- Cost: how many chunks have a word is counted in a sixteenth of them where there are many. Candidates are the chunks with one of the rarest words (or of their relations), as many words as together have up to 3000
-- in this configuration; frequent words only add to the share of these. A question of frequent words alone ranks the first 6000 of its candidates as they lie. Of p_documents with few chunks all that have any word are candidates.
drop function if exists millrace.rank_words(uuid, uuid, text, text, uuid[], integer, uuid[], uuid[]);  -- Here, so that whoever calls it is changed in the same transaction.
create or replace function millrace.rank_words(p_tenant_id uuid, p_owner_id uuid, p_config text, p_query text, p_documents uuid[], p_limit integer, p_also_documents uuid[] default '{}', p_also_chunks uuid[] default '{}',
    p_configs text[] default '{}', p_language regconfig default null, p_counts jsonb default null)
  returns table (document_id uuid, chunk_id uuid, share double precision)
  language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set max_parallel_workers_per_gather = 0 set jit = off
as $$
declare
  v_hidden uuid[] := millrace.hidden_generations(p_tenant_id);
  v_candidates_max constant integer := 3000;
  v_ranks constant real[] := '{0.1, 0.2, 0.6, 1.0}';
  v_own_part constant double precision := 0.4;  -- Of the weight of related words: how rare the word itself is, the rest being how rare all of them are.
  v_rank_max constant double precision := 0.6;  -- What a word that stands again and again in a text comes to, and so much of several words, too.
  v_terms tsquery[] := millrace.search_terms(p_config::regconfig, p_query, p_language);
  v_wide tsquery[] := millrace.related_words(p_config::regconfig, v_terms);
  v_demands tsquery := millrace.search_demands(p_config::regconfig, p_query);
  v_anywhere tsquery[] := millrace.terms_anywhere(p_config::regconfig, p_query, v_terms, p_configs);
  v_tenant_scope tsquery := millrace.quote_lexeme(case when p_owner_id is null then E'\x01t' || p_tenant_id else E'\x01o' || p_owner_id end);
  v_scope tsquery := v_tenant_scope && millrace.quote_lexeme(E'\x01c' || p_config);
  v_weights double precision[];
  v_wide_weights double precision[];
  v_wide_words integer[];
  v_weight double precision;
  v_total bigint;
  v_few boolean;  -- The documents asked of have so few chunks that nothing need be chosen.
  v_any tsquery;
begin
  if v_terms = '{}' and v_demands is null then
    return;
  end if;
  -- Shares of several configurations are held against the same number.
  v_total := greatest(millrace.tenant_chunks(p_tenant_id, p_owner_id), (select max(c.value::bigint) from jsonb_each_text(p_counts) c));
  v_few := p_documents is not null and millrace.tenant_chunks(p_tenant_id, p_owner_id, p_documents) <= v_candidates_max;
  with asked as materialized (
    select t.term, t.term || t.related as wide, t.anywhere, t.anywhere || t.related as wide_anywhere, millrace.term_weight(p_config::regconfig, t.term, p_language) as says
      from unnest(v_terms, v_wide, v_anywhere) t(term, related, anywhere)),
  -- Each step by itself: what is counted is asked for more than once.
  counted as materialized (
    select q.query, coalesce((p_counts ->> q.query::text)::bigint, millrace.count_chunks(v_tenant_scope, q.query, v_hidden, v_total)) as chunks
      from (select a.anywhere as query from asked a union select a.wide_anywhere from asked a where a.wide_anywhere is not null) q),
  weighed as materialized (
    select c.query, c.chunks, ln(1 + (greatest(v_total, max(c.chunks) over ()) - c.chunks + 0.5) / (c.chunks + 0.5)) as weight from counted c),
  -- Where chunks are counted in one configuration, both are the same.
  here as materialized (
    select q.query, case when cardinality(p_configs) < 2 or v_few then max(q.chunks) else millrace.count_chunks(v_scope, q.query, v_hidden, v_total) end as chunks
      from (select a.term as query, w.chunks from asked a join weighed w on w.query = a.anywhere
            union all
            select a.wide, w.chunks from asked a join weighed w on w.query = a.wide_anywhere) q
     group by q.query),
  chosen as materialized (
    select h.query, h.chunks, sum(h.chunks) over (order by h.chunks, h.query::text) - h.chunks as before from here h),
  term as (
    select a.term, a.says * t.weight as weight, a.wide, a.says * (v_own_part * t.weight + (1 - v_own_part) * w.weight) as wide_weight, t.chunks as own_chunks, coalesce(w.chunks, t.chunks) as all_chunks,
           coalesce(d.chunks, c.chunks) as chunks
      from asked a join weighed t on t.query = a.anywhere left join weighed w on w.query = a.wide_anywhere join chosen c on c.query = a.term left join chosen d on d.query = a.wide)
  select array_agg(t.term order by t.chunks, t.term::text) filter (where t.chunks > 0), array_agg(t.weight order by t.chunks, t.term::text) filter (where t.chunks > 0),
         array_agg(t.wide order by t.chunks, t.term::text) filter (where t.chunks > 0), array_agg(t.wide_weight order by t.chunks, t.term::text) filter (where t.chunks > 0),
         array_agg((numnode(t.wide) + 1) / 2 order by t.chunks, t.term::text) filter (where t.chunks > 0), sum(case when t.own_chunks = 0 and t.all_chunks > 0 then t.wide_weight else t.weight end),
         (select string_agg('(' || c.query::text || ')', ' | ')::tsquery from chosen c where c.chunks > 0 and (v_few or c.before = 0 or c.before + c.chunks <= v_candidates_max))
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
    (select c.document_id, c.chunk_id, c.words from millrace.document_chunks c
      where not v_few and (c.words || array_to_tsvector(array[E'\x01t' || c.tenant_id::text, E'\x01o' || c.owner_id::text, E'\x01c' || c.config, E'\x01b' || right(c.chunk_id::text, 1)]))
            @@ (v_scope && coalesce(v_any, v_demands) && coalesce(v_demands, v_scope))
        and c.tenant_id = p_tenant_id and (p_owner_id is null or c.owner_id = p_owner_id) and (p_documents is null or c.document_id = any (p_documents)) and c.generation_id <> all (v_hidden)
      limit 2 * v_candidates_max)
    union all
    (select c.document_id, c.chunk_id, c.words from millrace.document_chunks c
      where v_few and c.document_id = any (p_documents) and c.config = p_config and c.words @@ (coalesce(v_any, v_demands) && coalesce(v_demands, v_any))
        and c.tenant_id = p_tenant_id and (p_owner_id is null or c.owner_id = p_owner_id) and c.generation_id <> all (v_hidden)
      limit 2 * v_candidates_max)),
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
