-- millrace.hold_provider: nobody calls a provider (as limits name it: 'openai:gpt-4o-mini') for so many milliseconds: it said that it would refuse. Never shorter than it was said before; an absurd wait must not close a
-- provider for good, and one of nothing or less says nothing.
create or replace function millrace.hold_provider(p_provider text, p_ms double precision) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if p_ms > 0 then
    update millrace.api_rate_limits a
       set throttled_until = greatest(a.throttled_until, millrace.now() + least(p_ms, 86400000) * interval '1 millisecond'), last_rate_limit_hit = millrace.now()
     where a.provider_name = millrace.payee(p_provider) and a.api_endpoint = substr(p_provider, strpos(p_provider, ':') + 1);
  end if;
end;
$$;
