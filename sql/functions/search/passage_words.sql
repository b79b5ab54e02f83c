-- millrace.passage_words: the words to mark in passages of a configuration: those of the question, and the words that stand for them, which are marked where a chunk has none of the others. Null: none.
-- Asked once for all passages: a question of 8 KiB takes a while to be read.
drop function if exists millrace.passage_words(regconfig, text, tsvector);  -- Here, so that whoever calls it is changed in the same transaction.
create or replace function millrace.passage_words(p_config regconfig, p_query text, p_language regconfig default null) returns tsquery[]
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select array[millrace.search_lexemes(p_config, p_query, p_language),
               (select string_agg('(' || r.related::text || ')', ' | ')::tsquery from unnest(millrace.related_words(p_config, millrace.search_terms(p_config, p_query, p_language))) r(related))];
$$;
