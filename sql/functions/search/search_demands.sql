-- millrace.search_demands: what a question demands of every passage: phrases in quotation marks, and words or phrases with a minus before them that must not be there. Null: nothing.
-- Demands of words that do not count (the, and) are none.
create or replace function millrace.search_demands(p_config regconfig, p_query text) returns tsquery
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_demands tsquery;
begin
  select websearch_to_tsquery(p_config, string_agg(case when p.part like '-%' then '-' else '' end || '"' || millrace.spaced_text(translate(ltrim(p.part, '-'), '"', '')) || '"', ' ')) into v_demands
    from (select regexp_replace(m[1], '^\s', '') as part from regexp_matches(p_query, '"[^"]*"|' || millrace.minus_pattern(), 'g') m) p;
  return case when numnode(v_demands) > 0 then v_demands end;
end;
$$;
