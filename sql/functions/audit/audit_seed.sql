-- millrace.audit_seed: where the chain of a tenant begins.
create or replace function millrace.audit_seed(p_tenant uuid) returns bytea
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$ select sha256(array_send(array['\x6d696c6c726163652e636861696e2e7631'::bytea, uuid_send(p_tenant)])) $$;
