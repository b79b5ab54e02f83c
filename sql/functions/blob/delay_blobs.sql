-- millrace.delay_blobs: the bytes of this condemned content could not be removed now: it comes behind what was condemned meanwhile.
create or replace function millrace.delay_blobs(p_tenants uuid[], p_sha256 bytea[]) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  with held as materialized (
    select b.tenant_id, b.sha256 from millrace.blob_object b join unnest(p_tenants, p_sha256) u(tenant_id, sha256) on b.tenant_id = u.tenant_id and b.sha256 = u.sha256
     where b.condemned_at is not null order by b.tenant_id, b.sha256 for update of b skip locked)
  update millrace.blob_object b set condemned_at = millrace.now() from held h where b.tenant_id = h.tenant_id and b.sha256 = h.sha256;
end;
$$;
