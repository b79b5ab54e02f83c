-- millrace.terms_anywhere: to each word of a question (search_terms) any of the forms that it has in the configurations of the tenant: how rare a word is, is asked of all chunks, so that what they have of a question can
-- be compared whatever language they are in.
create or replace function millrace.terms_anywhere(p_config regconfig, p_query text, p_terms tsquery[], p_configs text[]) returns tsquery[]
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(p_configs) < 2 then
    return p_terms;
  end if;
  return coalesce((
    with own as materialized (
      select millrace.quote_lexeme(w.lexeme) as term, w.positions from millrace.question_words(p_config, p_query) w),
    other as materialized (
      select millrace.quote_lexeme(w.lexeme) as term, w.positions from unnest(p_configs) c(config) cross join lateral millrace.question_words(c.config::regconfig, p_query) w where c.config <> p_config::text)
    select array_agg(coalesce((select string_agg(distinct f.term::text, ' | ')::tsquery
                                 from (select t.term union all select o.term from own w join other o on o.positions && w.positions where w.term = t.term) f), t.term) order by t.place)
      from unnest(p_terms) with ordinality t(term, place)), '{}');
end;
$$;
