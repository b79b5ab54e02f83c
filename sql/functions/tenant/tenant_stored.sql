-- millrace.tenant_stored: what a tenant stores, and what uploads under way have reserved, in one snapshot. Uploads that have expired
-- reserve nothing.
create or replace function millrace.tenant_stored(p_tenant uuid) returns table (bytes bigint, files bigint, reserved_bytes bigint, reserved_files bigint)
  language plpgsql stable rows 1 set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select coalesce(u.used_bytes, 0) + d.bytes, coalesce(u.used_files, 0) + d.files, r.bytes, r.files
    from (select coalesce(sum(x.bytes), 0)::bigint as bytes, coalesce(sum(x.files), 0)::bigint as files
            from millrace.usage_delta x where x.tenant_id = p_tenant) d
    cross join (select coalesce(sum(o.reserved_bytes), 0)::bigint as bytes, count(*)::bigint as files
                  from millrace.upload o where o.tenant_id = p_tenant and o.state = 'open' and o.expires_at > millrace.now()) r
    left join millrace.tenant_usage u on u.tenant_id = p_tenant;
end;
$$;
