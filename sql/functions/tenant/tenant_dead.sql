-- millrace.tenant_dead: bytes of a tenant that are nobody's any more and lie in the store still, until the sweeps have come by: pieces of uploads that have
-- ended or expired, content that objects let go, content that is condemned. Sums and small indexes only: asked whenever room is reserved.
create or replace function millrace.tenant_dead(p_tenant uuid) returns bigint
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    -- What was there before it was counted must not make less of the rest.
    select greatest(coalesce(u.piece_bytes, 0) + d.piece_bytes - o.bytes, 0) + greatest(coalesce(u.dead_bytes, 0) + d.dead_bytes, 0) + c.bytes
      from (select coalesce(sum(x.piece_bytes), 0)::bigint as piece_bytes, coalesce(sum(x.dead_bytes), 0)::bigint as dead_bytes
              from millrace.usage_delta x where x.tenant_id = p_tenant) d
      cross join (select coalesce(sum(x.offset_bytes), 0)::bigint as bytes
                    from millrace.upload x where x.tenant_id = p_tenant and x.state = 'open' and x.expires_at > millrace.now()) o
      cross join (select coalesce(sum(b.size_bytes), 0)::bigint as bytes
                    from millrace.blob_object b where b.tenant_id = p_tenant and b.condemned_at is not null) c
      left join millrace.tenant_usage u on u.tenant_id = p_tenant);
end;
$$;
