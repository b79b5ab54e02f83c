-- millrace.search_lexemes: any of the words of a question, those with a minus left out, and small words of the language it is asked in (question_language); letters of scripts without spaces each for itself.
-- For marking them in a passage. Null: none.
drop function if exists millrace.search_lexemes(regconfig, text);  -- Here, so that whoever calls it is changed in the same transaction.
create or replace function millrace.search_lexemes(p_config regconfig, p_query text, p_language regconfig default null) returns tsquery
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select string_agg(millrace.quote_lexeme(l.lexeme)::text, ' | ')::tsquery from millrace.question_words(p_config, p_query, p_language) l;
$$;
