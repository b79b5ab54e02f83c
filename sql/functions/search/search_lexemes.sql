-- millrace.search_lexemes: any of the words of a question, those with a minus left out; letters of scripts without spaces each for itself. For marking them in a passage. Null: none.
create or replace function millrace.search_lexemes(p_config regconfig, p_query text) returns tsquery
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select string_agg(millrace.quote_lexeme(l.lexeme)::text, ' | ')::tsquery
    from unnest(to_tsvector(p_config, millrace.spaced_text(regexp_replace(p_query, millrace.minus_pattern(), ' ', 'g')))) l;
$$;
