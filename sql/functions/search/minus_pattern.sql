-- millrace.minus_pattern: what a question has a minus before: a phrase in quotation marks, or a word. A minus before a number is the number's (below -18 degrees).
create or replace function millrace.minus_pattern() returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return '(?<!\S)-(?:' || millrace.phrase_pattern() || '|(?![.,]?[0-9])[^\s"-][^\s"]*)';
