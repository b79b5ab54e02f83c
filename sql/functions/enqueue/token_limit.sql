-- millrace.token_limit: the smallest token limit in force for a provider, or null where tokens are unlimited.
create or replace function millrace.token_limit(p_provider_id integer) returns bigint
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select least(nullif(coalesce(o.tokens_per_minute, p.tokens_per_minute), -1),
                 nullif(coalesce(o.tokens_per_hour, p.tokens_per_hour), -1))
      from millrace.api_rate_limits p
      left join millrace.api_rate_limit_override o
        on o.provider_name = p.provider_name and o.api_endpoint = p.api_endpoint
       and (o.expires_at is null or o.expires_at > millrace.now())
     where p.provider_id = p_provider_id);
end;
$$;
