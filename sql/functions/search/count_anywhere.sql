-- millrace.count_anywhere: for rank_words, how many of a tenant's chunks (of one owner, where given) have each word of a question in whatever configuration they are counted (terms_anywhere), and each with the words that
-- stand for it: {query: chunks}. Configurations share most of these, so they are counted once for all.
create or replace function millrace.count_anywhere(p_tenant_id uuid, p_owner_id uuid, p_configs text[], p_query text, p_language regconfig) returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_hidden uuid[] := millrace.hidden_generations(p_tenant_id);
  v_scope tsquery := millrace.quote_lexeme(case when p_owner_id is null then E'\x01t' || p_tenant_id else E'\x01o' || p_owner_id end);
  v_total bigint := millrace.tenant_chunks(p_tenant_id, p_owner_id);
begin
  return (
    with asked as materialized (
      select a.anywhere, a.anywhere || a.related as wide
        from unnest(p_configs) c(config)
       cross join lateral millrace.search_terms(c.config::regconfig, p_query, p_language) s(terms)
       cross join lateral unnest(millrace.terms_anywhere(c.config::regconfig, p_query, s.terms, p_configs), millrace.related_words(c.config::regconfig, s.terms)) a(anywhere, related))
    select jsonb_object_agg(q.query::text, millrace.count_chunks(v_scope, q.query, v_hidden, v_total))
      from (select a.anywhere as query from asked a union select a.wide from asked a where a.wide is not null) q);
end;
$$;
