-- millrace.phrase_pattern: a phrase in quotation marks: the first stands directly before what is quoted, the last directly behind it and at the end of a word. Other marks are inches (a 5" pipe and a 3" pipe), or strays.
create or replace function millrace.phrase_pattern() returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return '"(?=[^\s"])(?:[^"]*[^\s"])"(?![^\s[:punct:]])';
