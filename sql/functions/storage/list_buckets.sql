-- millrace.list_buckets: the buckets of this installation, or the one that p_bucket names. They are nobody's in particular: what lies in them is.
create or replace function millrace.list_buckets(p_bucket text default null) returns setof millrace.storage_bucket
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  perform millrace.tenant_scope();  -- Nothing for a tenant that is disabled.
  return query select b.* from millrace.storage_bucket b where p_bucket is null or b.bucket = p_bucket order by b.bucket;
end;
$$;
