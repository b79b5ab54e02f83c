-- millrace.payee: who is paid for a call to a provider as limits name it: 'openai' for 'openai:gpt-4o-mini'. Money is counted by payee, requests and tokens by endpoint.
create or replace function millrace.payee(p_provider text) returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select split_part(p_provider, ':', 1)
$$;
