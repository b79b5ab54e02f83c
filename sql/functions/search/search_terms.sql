-- millrace.search_terms: what a question asks about: its words that count (question_words), without their endings; of scripts without spaces, pairs of letters beside each other.
-- The first 32 in the order of the question. Any of them makes a passage a candidate, so a question in a sentence finds passages that have some of its words.
drop function if exists millrace.search_terms(regconfig, text);  -- Here, so that whoever calls it is changed in the same transaction.
create or replace function millrace.search_terms(p_config regconfig, p_query text, p_language regconfig default null) returns tsquery[]
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_positive text := regexp_replace(millrace.plain_text(p_query), millrace.minus_pattern(), ' ', 'g');
  v_solid constant text := '[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF66-\uFF9D]';
  v_terms tsquery[];
begin
  select array_agg(t.term order by t.place) into v_terms
    from (select u.term, min(u.place) as place
            from (select millrace.quote_lexeme(l.lexeme) as term, l.positions[1]::integer as place
                    from millrace.question_words(p_config, p_query, p_language) l where l.lexeme !~ v_solid
                  union all
                  select phraseto_tsquery('simple', millrace.spaced_text(substr(r.run, p.place, 2))), 100000 + p.place
                    from (select m[1] as run from regexp_matches(v_positive, '(' || v_solid || '+)', 'g') m limit 8) r
                   cross join lateral generate_series(1, least(greatest(length(r.run) - 1, 1), 32)) p(place)) u
           where numnode(u.term) > 0
           group by u.term order by min(u.place) limit 32) t;
  return coalesce(v_terms, '{}');
end;
$$;
