-- millrace.effective_limit: the limits in force for a provider. An operator's value wins over the
-- configured one until it expires; null means unlimited, never a large number (E05).
create or replace function millrace.effective_limit(p_provider_id integer)
  returns table (status text, requests_per_minute bigint, requests_per_hour bigint,
                 tokens_per_minute bigint, tokens_per_hour bigint, concurrent_requests bigint,
                 overridden boolean)
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select coalesce(o.status, p.status),
         nullif(coalesce(o.requests_per_minute, p.requests_per_minute), -1)::bigint,
         nullif(coalesce(o.requests_per_hour, p.requests_per_hour), -1)::bigint,
         nullif(coalesce(o.tokens_per_minute, p.tokens_per_minute), -1),
         nullif(coalesce(o.tokens_per_hour, p.tokens_per_hour), -1),
         nullif(coalesce(o.concurrent_requests, p.concurrent_requests), -1)::bigint,
         o.provider_name is not null
    from millrace.api_rate_limits p
    left join millrace.api_rate_limit_override o
      on o.provider_name = p.provider_name and o.api_endpoint = p.api_endpoint
     and (o.expires_at is null or o.expires_at > millrace.now())
   where p.provider_id = p_provider_id;
end;
$$;
