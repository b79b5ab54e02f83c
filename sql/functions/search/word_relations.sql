-- millrace.word_relations: to each word of word_groups, without its ending, all others that it shares a group with: {"flat": ["apart", "home", "hous"], …}.
-- Immutable and without arguments, so that a session makes it once, when it first plans what asks for it.
create or replace function millrace.word_relations() returns jsonb
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  with groups as materialized (
    select array_agg(distinct s.lexeme) as lexemes
      from string_to_table(millrace.word_groups(), E'\n') with ordinality g(line, place)
     cross join lateral string_to_table(g.line, ' ') w(word)
     cross join lateral (select (ts_lexize('english_stem', w.word))[1] as lexeme) s
     where g.line not like '#%' and w.word <> '' and s.lexeme is not null group by g.place)
  select jsonb_object_agg(r.lexeme, r.related)
    from (select l.lexeme, jsonb_agg(distinct o.lexeme) as related
            from groups g cross join lateral unnest(g.lexemes) l(lexeme) cross join lateral unnest(g.lexemes) o(lexeme)
           where l.lexeme <> o.lexeme group by l.lexeme) r;
$$;
