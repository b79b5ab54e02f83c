-- What the source-named views and the audit chain are built from: two aggregates with their functions, and
-- the exact position of the sealer.
-- Lock cost: one small table altered, one index on a table that the hot path does not write. compat: rolling

-- error_details of the sources: the errors of all attempts merged in order, the later key wins.
create function millrace.jsonb_merge(p_state jsonb, p_value jsonb) returns jsonb
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select case when jsonb_typeof(p_value) = 'object' then coalesce(p_state, '{}'::jsonb) || p_value else p_state end
$$;
create aggregate millrace.jsonb_merge_agg(jsonb) (sfunc = millrace.jsonb_merge, stype = jsonb, parallel = safe);

-- One link of the audit chain: the hash before (of the first link: the seed) and the digest of the row.
create function millrace.audit_link(p_state bytea, p_seed bytea, p_digest bytea) returns bytea
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return sha256(coalesce(p_state, p_seed) || p_digest);
end;
$$;
create aggregate millrace.audit_chain(bytea, bytea) (sfunc = millrace.audit_link, stype = bytea);

-- Rows are sealed in (xid, audit_id) order; floor_audit_id is where a restored cluster, whose transaction ids
-- start again, took over.
alter table millrace.audit_seal_state
  add column sealed_audit_id bigint not null default 0,
  add column floor_audit_id  bigint not null default 0;
-- No row can be sealed twice, whatever the sealer believes.
create unique index audit_seal_audit_idx on millrace.audit_seal (audit_id);
