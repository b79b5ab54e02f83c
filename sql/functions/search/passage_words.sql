-- millrace.passage_words: the words to mark in a passage: those of the question, or, where the chunk has none of them, the words that stand for them.
create or replace function millrace.passage_words(p_config regconfig, p_query text, p_words tsvector) returns tsquery
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_words tsquery := millrace.search_lexemes(p_config, p_query);
begin
  return case when p_words @@ v_words then v_words
              else coalesce((select string_agg('(' || r.related::text || ')', ' | ')::tsquery from unnest(millrace.related_words(p_config, millrace.search_terms(p_config, p_query))) r(related)), v_words) end;
end;
$$;
