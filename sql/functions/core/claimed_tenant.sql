-- millrace.claimed_tenant: tenant named by the JWT: app_metadata.tenant_id, else tenant_id, else sub; null without claims.
create or replace function millrace.claimed_tenant() returns uuid
  language sql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select coalesce(millrace.uuid_or_null(c.claims #>> '{app_metadata,tenant_id}'),
                  millrace.uuid_or_null(c.claims ->> 'tenant_id'),
                  millrace.uuid_or_null(c.claims ->> 'sub'))
    from (select millrace.jwt_claims() as claims) c
$$;
