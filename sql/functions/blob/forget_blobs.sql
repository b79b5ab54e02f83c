-- millrace.forget_blobs: the second half: the bytes are gone (or are somebody else's too), now the rows go, if they are condemned still and
-- nothing refers to them. Answers how many.
create or replace function millrace.forget_blobs(p_tenants uuid[], p_sha256 bytea[]) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_count integer;
begin
  perform from millrace.blob_object b join unnest(p_tenants, p_sha256) u(tenant_id, sha256) on b.tenant_id = u.tenant_id and b.sha256 = u.sha256
    where b.condemned_at is not null order by b.tenant_id, b.sha256 for update of b;
  delete from millrace.blob_object b using unnest(p_tenants, p_sha256) u(tenant_id, sha256)
   where b.tenant_id = u.tenant_id and b.sha256 = u.sha256 and b.condemned_at is not null and not millrace.is_blob_used(b.tenant_id, b.sha256);
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
