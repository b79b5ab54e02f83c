-- millrace.search_demands: what a question demands of every passage: phrases in quotation marks, and words or phrases with a minus before them that must not be there. Null: nothing.
-- Demands of words that do not count (the, and) are none.
create or replace function millrace.search_demands(p_config regconfig, p_query text) returns tsquery
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_demands tsquery;
begin
  select websearch_to_tsquery(p_config, string_agg(case when m[3] is null then m[1] else '-' end || '"' || millrace.spaced_text(coalesce(m[2], m[3])) || '"', ' ')) into v_demands
    from regexp_matches(p_query, '(-?)"([^"]*)"|(?:^|\s)-([^\s"-][^\s"]*)', 'g') m;
  return case when numnode(v_demands) > 0 then v_demands end;
end;
$$;
