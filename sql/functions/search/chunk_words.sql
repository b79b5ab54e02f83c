-- millrace.chunk_words: the words of a chunk as they are searched: those of the headings it stands under with weight A, those of its text with B. Publishing calls it.
-- A tsvector has room for about a megabyte of words; of longer texts the first 128 KiB letters count (of what they become in one spelling, as many: one sign may stand for many letters), so that no text can fail to be published.
create or replace function millrace.chunk_words(p_config regconfig, p_headings text[], p_text text) returns tsvector
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select setweight(to_tsvector(p_config, millrace.spaced_text(left(millrace.plain_text(left(array_to_string(coalesce(p_headings, '{}'), E'\n'), 16384)), 16384))), 'A')
    || setweight(to_tsvector(p_config, millrace.spaced_text(left(millrace.plain_text(left(coalesce(p_text, ''), 131072)), 131072))), 'B');
$$;
