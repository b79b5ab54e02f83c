-- millrace.related_words: to each word of a question (search_terms) the words that may stand for it (word_groups), as a query for any of them; null where none are known. Only English words have any.
create or replace function millrace.related_words(p_config regconfig, p_terms tsquery[]) returns tsquery[]
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_relations jsonb;
begin
  if p_config <> 'english'::regconfig then
    return array_fill(null::tsquery, array[cardinality(p_terms)]);
  end if;
  -- By itself, so that its plan, and with it the value, is kept from call to call.
  v_relations := millrace.word_relations();
  return coalesce((select array_agg((select string_agg(millrace.quote_lexeme(r.lexeme)::text, ' | ')::tsquery from jsonb_array_elements_text(v_relations -> btrim(t.term::text, '''')) r(lexeme)) order by t.place)
                     from unnest(p_terms) with ordinality t(term, place)), '{}');
end;
$$;
