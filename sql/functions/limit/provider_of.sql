-- millrace.provider_of: the provider that a job type is bound to, or null.
create or replace function millrace.provider_of(p_type_id smallint) returns integer
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select p.provider_id
      from millrace.job_type t
      join millrace.api_rate_limits p
        on p.provider_name = t.provider_name and p.api_endpoint = t.api_endpoint
     where t.type_id = p_type_id);
end;
$$;
