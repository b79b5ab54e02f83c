-- millrace.claimed_tenant: tenant named by the JWT: app_metadata.tenant_id, else tenant_id, else sub; null without claims.
create or replace function millrace.claimed_tenant() returns uuid
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims jsonb := millrace.jwt_claims();
begin
  if v_claims is null then
    return null;
  end if;
  return coalesce(millrace.uuid_or_null(v_claims #>> '{app_metadata,tenant_id}'), millrace.uuid_or_null(v_claims ->> 'tenant_id'),
                  millrace.uuid_or_null(v_claims ->> 'sub'));
end;
$$;
