-- millrace.chunk_passage: the part of a chunk to show for a question, and where the question's words stand in it: {"text", "start_byte", "end_byte", "highlights": [[from, to], …]}, all in bytes of the
-- parsed text, of which the chunk begins at p_start_byte. Up to p_length letters, from the beginning of a sentence if one is near, where most different words of the question stand together.
-- Looks at the first 8192 letters; a chunk in which no word is found is shown from its beginning.
create or replace function millrace.chunk_passage(p_config regconfig, p_words tsquery, p_text text, p_start_byte bigint, p_length integer default 320) returns jsonb
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := left(p_text, 8192);
  v_solid constant text := '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF66-\uFF9D]';
  v_seen text := millrace.parted_text(v_text);
  v_result jsonb;
begin
  if getdatabaseencoding() = 'UTF8' then
    -- Optional hyphens stand within words, and the parser parts words there: in their place it sees a joiner (of as many bytes, left out by plain_text likewise).
    v_seen := translate(v_seen, chr(173), chr(847));
  end if;
  -- The parser gives all of the text back, piece by piece, and some pieces twice: what is made of parts (15 … 17, with hyphens; 5, addresses of pages) comes before its parts.
  with parsed as materialized (
    select p.place, p.part, p.piece, p.word
      from (select t.place, s.part, s.piece, (t.tokid not in (12, 13, 14, 18, 23)) as word
              from ts_parse('default', v_seen) with ordinality t(tokid, token, place)
             cross join lateral unnest(case when t.token ~ v_solid then string_to_array(t.token, null) else array[t.token] end) with ordinality s(piece, part)
             where t.tokid not in (5, 15, 16, 17)) p),
  piece as materialized (
    select p.piece, p.word, row_number() over w as number, sum(length(p.piece)) over w - length(p.piece) as letter, sum(octet_length(p.piece)) over w - octet_length(p.piece) as byte
      from parsed p window w as (order by p.place, p.part)),
  sum as (select sum(octet_length(p.piece)) = octet_length(v_text) as whole from piece p),
  -- Most are plain words: nothing to spell otherwise.
  form as materialized (
    select f.form from (select distinct lower(p.piece) as form from piece p where p.word) f where p_words is not null and to_tsvector(p_config, case when f.form ~ '[^a-z0-9]|[0-9][a-z]' then millrace.spaced_text(f.form) else f.form end) @@ p_words),
  hit as materialized (
    select p.letter, p.byte, p.byte + octet_length(p.piece) as byte_end, lower(p.piece) as form, p.number
      from piece p join form f on f.form = lower(p.piece), sum s where p.word and s.whole order by p.number limit 400),
  best as (
    select h.letter from hit h order by (select count(distinct n.form) from hit n where n.letter between h.letter and h.letter + p_length - 80) desc, h.letter limit 1),
  -- From the last end of a sentence or line before it, if that is near; else from a word.
  opening as (
    select coalesce((select max(p.letter + length(p.piece)) from piece p, best b where not p.word and p.letter + length(p.piece) <= b.letter and p.letter >= b.letter - 120 and p.piece ~ '[.!?。！？]\s|\n'),
                    (select min(p.letter) from piece p, best b where p.word and p.letter >= b.letter - 60), 0) as letter),
  ending as (
    select coalesce((select max(p.letter + length(p.piece)) from piece p, opening o where p.letter + length(p.piece) <= o.letter + p_length), least(length(v_text), o.letter + p_length)) as letter from opening o),
  bounds as (
    select o.letter as first, e.letter as last, octet_length(left(v_text, o.letter::integer)) as first_byte from opening o, ending e)
  select jsonb_build_object('text', s.text, 'start_byte', p_start_byte + b.first_byte, 'end_byte', p_start_byte + b.first_byte + octet_length(s.text),
           'highlights', coalesce((select jsonb_agg(jsonb_build_array(p_start_byte + h.byte, p_start_byte + h.byte_end) order by h.byte) from hit h where h.letter >= b.first and h.letter < b.last), '[]'))
    into v_result from bounds b cross join lateral (select substr(v_text, b.first::integer + 1, (b.last - b.first)::integer) as text) s;
  return v_result;
end;
$$;
