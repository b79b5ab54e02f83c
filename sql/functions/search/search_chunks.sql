-- millrace.search_chunks: passages of published documents for a question, best first: by their words (the share of the question that they have, rank_words), by the vector of the question (cosine,
-- rank_vectors), or by both: the weighted mean of share and cosine, and a part of that of the best passage of the same document. Each way names the candidates it finds best, and both measures are taken of all of them, so a passage needs no luck in two lists.
-- Always inside one tenant; users find their own documents only. Vectors are compared with those of the same model and version, nothing else. Without a vector, hybrid is text.
-- Offsets are bytes of the parsed text of the generation.
create or replace function millrace.search_chunks(p_query text, p_vector real[] default null, p_embed_model text default null, p_embed_version text default null, p_mode text default 'hybrid',
    p_documents uuid[] default null, p_limit integer default 10, p_explain boolean default false, p_text_weight double precision default 1, p_vector_weight double precision default 1) returns setof jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set max_parallel_workers_per_gather = 0 set jit = off
as $$
declare
  v_list integer := greatest(p_limit, 100);
  v_document_part constant double precision := 0.25;  -- Of the best passage of the same document, in hybrid: what stands beside an answer is about the same thing.
  v_user uuid := case when millrace.caller() in ('anon', 'authenticated') then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') end;
  v_tenant uuid := coalesce(millrace.tenant_scope(), '00000000-0000-0000-0000-000000000000');
  v_hidden uuid[] := millrace.hidden_generations(v_tenant);
  v_by_words boolean := p_mode in ('hybrid', 'text');
  v_by_vector boolean := p_mode in ('hybrid', 'vector') and p_vector is not null;
  v_configs text[];
  v_language regconfig;
  v_counts jsonb;
  v_length double precision;
  v_documents uuid[] := '{}';
  v_chunks uuid[] := '{}';
  v_cosines double precision[] := '{}';
begin
  if p_query is null or btrim(p_query, E' \t\r\n') = '' then
    raise exception 'query must not be empty' using errcode = 'MR024';
  elsif octet_length(p_query) > 8192 then
    raise exception 'query has % bytes; at most 8192 are searched for', octet_length(p_query) using errcode = 'MR024';
  elsif p_mode is null or p_mode not in ('hybrid', 'text', 'vector') then
    raise exception 'mode must be hybrid, text or vector' using errcode = 'MR024';
  elsif p_limit is null or p_limit not between 1 and 100 then
    raise exception 'limit must be between 1 and 100' using errcode = 'MR024';
  elsif cardinality(p_documents) > 1000 then
    raise exception 'documents must be at most 1000' using errcode = 'MR024';
  elsif p_mode = 'vector' and p_vector is null then
    raise exception 'mode vector needs the vector of the query' using errcode = 'MR024';
  elsif p_vector is not null and (p_embed_model is null or p_embed_version is null or cardinality(p_vector) not between 1 and 16000 or array_position(p_vector, null) is not null
        or 'NaN' = any (p_vector) or 'infinity' = any (p_vector) or '-infinity' = any (p_vector)) then
    raise exception 'a vector has 1 to 16000 finite numbers, and a model with its version' using errcode = 'MR024';
  elsif not coalesce(p_text_weight between 0 and 100 and p_vector_weight between 0 and 100 and p_text_weight + p_vector_weight > 0, false) then
    raise exception 'weights must be between 0 and 100, and not both 0' using errcode = 'MR024';
  end if;
  v_configs := millrace.search_configs(v_tenant);
  v_language := millrace.question_language(v_configs, p_query);
  if v_by_words and cardinality(v_configs) > 1 then
    v_counts := millrace.count_anywhere(v_tenant, v_user, v_configs, p_query, v_language);
  end if;
  if v_by_vector then
    v_length := (select sqrt(sum(v.value::double precision * v.value)) from unnest(p_vector) v(value));
    select coalesce(array_agg(r.document_id), '{}'), coalesce(array_agg(r.chunk_id), '{}'), coalesce(array_agg(r.cosine), '{}') into v_documents, v_chunks, v_cosines
      from millrace.rank_vectors(v_tenant, v_user, p_vector, p_embed_model, p_embed_version, p_query, p_documents, v_list) r;
  end if;
  return query
  with by_words as materialized (
    select r.document_id, r.chunk_id, r.share
      from unnest(case when v_by_words then v_configs end) c(config)
     cross join lateral millrace.rank_words(v_tenant, v_user, c.config, p_query, p_documents, v_list, v_documents, v_chunks, v_configs, v_language, v_counts) r),
  by_vector as materialized (
    select * from unnest(v_documents, v_chunks, v_cosines) v(document_id, chunk_id, cosine)),
  candidate as materialized (
    select document_id, chunk_id, coalesce(w.share, 0) as share,
           case when v.cosine is not null or not v_by_vector then v.cosine
                else (select millrace.vector_cosine(c.embedding::real[], p_vector, v_length) from millrace.document_chunks c
                       where c.document_id = w.document_id and c.chunk_id = w.chunk_id and c.embed_model = p_embed_model and c.embed_version = p_embed_version and c.generation_id <> all (v_hidden)) end as cosine
      from by_words w full join by_vector v using (document_id, chunk_id)),
  measured as (
    select c.*, case when not v_by_vector then c.share when not v_by_words then greatest(c.cosine, 0)
                     else (p_text_weight * c.share + p_vector_weight * greatest(coalesce(c.cosine, 0), 0)) / (p_text_weight + p_vector_weight) end as own
      from candidate c),
  scored as (
    select m.*, case when v_by_words and v_by_vector then (m.own + v_document_part * max(m.own) over (partition by m.document_id)) / (1 + v_document_part) else m.own end as score
      from measured m),
  best as materialized (
    select s.*, row_number() over (order by s.score desc, s.share desc, s.document_id, s.chunk_id) as place from scored s order by place limit p_limit),
  mark as materialized (
    select c.config, millrace.passage_words(c.config::regconfig, p_query, v_language) as marks from unnest(v_configs) c(config))
  select jsonb_build_object('rank', b.place, 'score', round(b.score::numeric, 6), 'document_id', c.document_id, 'document_name', d.file_name, 'chunk_id', c.chunk_id, 'content_id', c.content_id,
           'generation_id', c.generation_id, 'chunk_ord', c.chunk_ord, 'heading_path', to_jsonb(c.heading_path), 'page_start', c.page_start, 'page_end', c.page_end, 'start_byte', c.start_byte,
           'end_byte', c.end_byte, 'text', c.text, 'passage', millrace.chunk_passage(c.config::regconfig, case when c.words @@ m.marks[1] then m.marks[1] else coalesce(m.marks[2], m.marks[1]) end, c.text, c.start_byte))
         || case when p_explain then jsonb_build_object('explain', jsonb_build_object('share', round(b.share::numeric, 6), 'cosine', round(b.cosine::numeric, 6), 'config', c.config)) else '{}' end
    from best b join millrace.document_chunks c on c.document_id = b.document_id and c.chunk_id = b.chunk_id and c.generation_id <> all (v_hidden)
    left join mark m on m.config = c.config
    left join millrace.shell_files d on d.id = c.document_id
   where c.tenant_id = v_tenant and (v_user is null or c.owner_id = v_user)
   order by b.place;
end;
$$;
