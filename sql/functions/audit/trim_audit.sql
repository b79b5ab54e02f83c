-- millrace.trim_audit: one step of what retention leaves behind of the audit: rows of the default partition, which is never dropped, and seals of rows that
-- are gone; at most p_limit of both. {"trimmed": how many, "more": whether another step may find more}.
-- Of every chain the beginning goes, up to the last seal whose row is gone: that one stays, for the chain is verified from its hash. So the newest of a
-- chain stays as well, and the sealer, who looks at nothing else, is never met.
-- Tenant by tenant through the primary key, after each drop of a partition once; without one this reads a single row. A step is a transaction together with
-- its position, which lies in the row that is the lock: while another trims, or after a death, nothing is done twice.
-- Where retention was raised, or the clock put back, beyond what was dropped, this waits until that is old enough again.
create or replace function millrace.trim_audit(p_limit integer) returns jsonb
  language plpgsql set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_floor millrace.audit_floor;
  v_seal record;
  v_tenant uuid;
  v_from bigint;
  v_anchor bigint;
  v_gone integer;
  v_removed integer;
  v_left integer := p_limit;
begin
  if p_limit is null or p_limit < 1 then
    raise exception 'p_limit must be at least 1' using errcode = 'MR024';
  end if;
  select f.* into v_floor from millrace.audit_floor f where f.only_row for update skip locked;
  if not found or (v_floor.next_tenant is null and v_floor.trimmed_before = v_floor.dropped_before)
     or v_floor.dropped_before > millrace.now() - millrace.retention('audit', 2555) then
    return jsonb_build_object('trimmed', 0, 'more', false);
  end if;

  perform set_config('millrace.retention', 'on', true);
  delete from millrace.audit_default d
   where d.ctid = any (array(select o.ctid from millrace.audit_default o where o.at < v_floor.dropped_before order by o.at, o.audit_id limit p_limit));
  get diagnostics v_removed = row_count;
  v_left := v_left - v_removed;

  if v_left > 0 then
    if v_floor.next_tenant is null then
      v_floor.trimmed_before := v_floor.dropped_before;
    end if;
    select s.tenant_id, s.chain_seq into v_tenant, v_from from millrace.audit_seal s
     where (s.tenant_id, s.chain_seq) >= (coalesce(v_floor.next_tenant, '00000000-0000-0000-0000-000000000000'), v_floor.next_seq)
     order by s.tenant_id, s.chain_seq limit 1;
    -- Tenants of whom nothing goes have a bound too.
    for v_looked in 1 .. 1000 loop
      exit when v_tenant is null or v_left = 0;
      v_gone := 0;
      for v_seal in
        select s.chain_seq, s.at < v_floor.dropped_before
                            and (select a.audit_id from millrace.audit a where a.at = s.at and a.audit_id = s.audit_id) is null as gone
          from millrace.audit_seal s where s.tenant_id = v_tenant and s.chain_seq >= v_from order by s.chain_seq limit v_left + 1
      loop
        exit when not v_seal.gone;
        v_gone := v_gone + 1;
        v_anchor := v_seal.chain_seq;
      end loop;
      if v_gone > 1 then
        delete from millrace.audit_seal s where s.tenant_id = v_tenant and s.chain_seq >= v_from and s.chain_seq < v_anchor;
        get diagnostics v_removed = row_count;
        v_left := v_left - v_removed;
        v_from := v_anchor;
      end if;
      continue when v_left = 0;
      select s.tenant_id, s.chain_seq into v_tenant, v_from from millrace.audit_seal s
       where s.tenant_id > v_tenant order by s.tenant_id, s.chain_seq limit 1;
    end loop;
    update millrace.audit_floor f set trimmed_before = v_floor.trimmed_before, next_tenant = v_tenant, next_seq = coalesce(v_from, 0) where f.only_row;
  end if;
  perform set_config('millrace.retention', '', true);
  return jsonb_build_object('trimmed', p_limit - v_left, 'more', v_left = 0 or v_tenant is not null or v_floor.trimmed_before <> v_floor.dropped_before);
exception when lock_not_available then
  raise notice 'audit not trimmed: %', sqlerrm;
  return jsonb_build_object('trimmed', 0, 'more', false);
end;
$$;
