-- millrace.spaced_text: a text as the parser of PostgreSQL should see it, of documents and of questions alike: in one spelling (plain_text), and its words apart (parted_text): follow-up is found by "follow up".
-- A number stands apart from the unit behind it: 256GB is found by "256 GB". Letters of scripts that are written without spaces between words (Chinese, Japanese, Thai, Lao, Burmese, Khmer), or with endings
-- joined to them (Korean), stand alone: the parser takes a whole sentence of these for one word; alone, each letter is a word, and a word is a phrase of letters.
create or replace function millrace.spaced_text(p_text text) returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return regexp_replace(regexp_replace(millrace.parted_text(millrace.plain_text(p_text)), '\m([0-9]+)([[:alpha:]]+)\M', '\1 \2', 'g'),
                      '([\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF66-\uFF9D])', ' \1 ', 'g');
