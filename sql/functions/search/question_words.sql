-- millrace.question_words: the words of a question as p_config counts them, each with the places it stands at, those with a minus left out. What is a small word (how, the) in the language that the question is
-- asked in does not count in any configuration: no chunk of another language has it, and of a list or table in no language hardly any.
create or replace function millrace.question_words(p_config regconfig, p_query text, p_language regconfig default null) returns table (lexeme text, positions smallint[])
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := millrace.spaced_text(regexp_replace(millrace.plain_text(p_query), millrace.minus_pattern(), ' ', 'g'));
begin
  if p_language is null or p_language = p_config then
    return query select w.lexeme, w.positions from unnest(to_tsvector(p_config, v_text)) w;
  else
    -- By hashing: a question of 8 KiB has thousands of words, and each would be looked for among all.
    return query
    select w.lexeme, w.positions from unnest(to_tsvector(p_config, v_text)) w
     where exists (select from unnest(w.positions) p(place)
                    where p.place in (select k.place from unnest(to_tsvector(p_language, v_text)) l cross join lateral unnest(l.positions) k(place)));
  end if;
end;
$$;
