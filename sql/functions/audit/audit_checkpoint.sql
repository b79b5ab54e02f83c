-- millrace.audit_checkpoint: the head of a tenant's chain, to be kept outside the database and given to
-- millrace.verify_audit later. Without an argument: the caller's tenant.
create or replace function millrace.audit_checkpoint(p_tenant uuid default null) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_tenant uuid := coalesce(p_tenant, millrace.current_tenant());
begin
  if v_tenant <> coalesce(millrace.tenant_scope(), v_tenant) then
    raise exception 'p_tenant is not the tenant of this call' using errcode = 'MR015';
  end if;
  return (
    select jsonb_build_object('tenant_id', t.tenant_id, 'chain_seq', coalesce(s.chain_seq, 0),
                              'hash', encode(coalesce(s.hash, millrace.audit_seed(t.tenant_id)), 'hex'))
      from (select v_tenant as tenant_id) t
      left join lateral (select o.chain_seq, o.hash from millrace.audit_seal o
                          where o.tenant_id = t.tenant_id order by o.chain_seq desc limit 1) s on true);
end;
$$;
