-- millrace.seal_batch: no more jobs join; the callback is due when all members have finished. Sealing twice is harmless.
create or replace function millrace.seal_batch(p_batch_id uuid) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_tenant uuid;
begin
  update millrace.batch b set sealed_at = coalesce(b.sealed_at, millrace.now())
   where b.batch_id = p_batch_id and (millrace.tenant_scope() is null or b.tenant_id = millrace.tenant_scope()) returning b.tenant_id into v_tenant;
  if not found then
    raise exception 'batch % does not exist', p_batch_id using errcode = 'MR018';
  end if;
  -- An empty note lets advance find a batch whose members have all finished before the seal.
  insert into millrace.handoff (kind, tenant_id, batch_id) values ('batch', v_tenant, p_batch_id);
end;
$$;
