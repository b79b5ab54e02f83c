-- millrace.question_language: the language that a question is asked in: that in which most of its words are small words (how, is, the). Of equals those that the tenant has documents in (p_configs) come first, then English;
-- of any other, one small word is no sign. Null: it has none.
-- Whoever has documents in one language only need not know: all their chunks are held against the same words.
create or replace function millrace.question_language(p_configs text[], p_query text) returns regconfig
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text;
  v_words bigint;
begin
  if cardinality(p_configs) < 2 and p_configs <> '{simple}' then
    return null;
  end if;
  v_text := millrace.spaced_text(left(p_query, 1000));
  select coalesce(sum(cardinality(w.positions)), 0) into v_words from unnest(to_tsvector('simple', v_text)) w;
  return (
    select l.config from (
      select c.oid::regconfig as config, c.cfgname::text as name,
             v_words - (select coalesce(sum(cardinality(w.positions)), 0) from unnest(to_tsvector(c.oid::regconfig, v_text)) w) as small
        from pg_ts_config c where c.cfgnamespace = 'pg_catalog'::regnamespace and c.cfgname <> 'simple') l
     where l.small > case when l.name = any (p_configs) or l.name = 'english' then 0 else 1 end
     order by l.small desc, l.name = any (p_configs) desc, l.name = 'english' desc, l.name limit 1);
end;
$$;
