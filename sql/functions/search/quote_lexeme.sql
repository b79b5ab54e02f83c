-- millrace.quote_lexeme: a word as a tsquery that asks for it, whatever signs it has.
create or replace function millrace.quote_lexeme(p_lexeme text) returns tsquery
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return ('''' || replace(replace(p_lexeme, '\', '\\'), '''', '''''') || '''')::tsquery;
