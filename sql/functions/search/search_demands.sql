-- millrace.search_demands: what a question demands of every passage: phrases in quotation marks, and words or phrases with a minus before them that must not be there. Null: nothing.
-- Quotation marks open at the beginning of a word only. The first 32 different demands count: each is held against every chunk with words of the question. Demands of words that do not count (the, and) are none.
create or replace function millrace.search_demands(p_config regconfig, p_query text) returns tsquery
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_demands tsquery;
begin
  select websearch_to_tsquery(p_config, string_agg(case when p.part like '-%' then '-' else '' end || '"' || millrace.spaced_text(translate(ltrim(p.part, '-'), '"', '')) || '"', ' ')) into v_demands
    from (select m.part[1] as part from regexp_matches(millrace.plain_text(p_query), '(?<![^\s([{])' || millrace.phrase_pattern() || '|' || millrace.minus_pattern(), 'g') with ordinality m(part, place)
           group by 1 order by min(m.place) limit 32) p;
  return case when numnode(v_demands) > 0 then v_demands end;
end;
$$;
