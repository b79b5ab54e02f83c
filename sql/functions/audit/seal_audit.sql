-- millrace.seal_audit: adds committed audit rows to the chains of their tenants, at most p_limit; returns how many.
-- Exact: a transaction id below the oldest one still running has ended, so its rows are all visible or never will be;
-- rows are taken in (xid, audit_id) order, and the position is kept in the row that is the sealer's lock. A late
-- commit has an id at or above that horizon and is simply sealed later. While another sealer works: 0.
create or replace function millrace.seal_audit(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_state millrace.audit_seal_state;
  v_now pg_snapshot;
  v_from xid8;
  v_below xid8;
  v_sealed integer;
  v_last record;
begin
  if p_limit is null or p_limit < 1 then
    raise exception 'p_limit must be at least 1' using errcode = 'MR024';
  end if;
  select s.* into v_state from millrace.audit_seal_state s where s.only_row for update skip locked;
  if not found then
    return 0;
  end if;
  v_now := pg_current_snapshot();
  v_from := v_state.sealed_xid;
  v_below := pg_snapshot_xmin(v_now);
  -- The horizon never falls in one cluster. Below the position it means a restore into another cluster: ids this cluster
  -- has not given out yet came with the restored rows, which are all committed.
  if v_below < v_state.sealed_xid then
    v_from := pg_snapshot_xmax(v_now);
    v_below := '18446744073709551615'::xid8;
  end if;

  with batch as materialized (
    select a.* from millrace.audit a
     where (a.xid, a.audit_id) > (v_state.sealed_xid, v_state.sealed_audit_id)
       and a.xid >= v_from and a.xid < v_below and a.audit_id > v_state.floor_audit_id
     order by a.xid, a.audit_id limit p_limit),
  head as materialized (
    select t.tenant_id, coalesce(s.chain_seq, 0) as chain_seq, coalesce(s.hash, millrace.audit_seed(t.tenant_id)) as hash
      from (select distinct b.tenant_id from batch b) t
      left join lateral (select o.chain_seq, o.hash from millrace.audit_seal o
                          where o.tenant_id = t.tenant_id order by o.chain_seq desc limit 1) s on true),
  sealed as (
    insert into millrace.audit_seal (tenant_id, chain_seq, audit_id, at, hash)
    select b.tenant_id, h.chain_seq + row_number() over w, b.audit_id, b.at,
           millrace.audit_chain(h.hash, millrace.audit_digest((b.*)::millrace.audit)) over w
      from batch b join head h on h.tenant_id = b.tenant_id
    window w as (partition by b.tenant_id order by b.xid, b.audit_id rows unbounded preceding))
  select count(*) over () as sealed, b.xid, b.audit_id into v_last
    from batch b order by b.xid desc, b.audit_id desc limit 1;
  v_sealed := coalesce(v_last.sealed, 0);

  if v_sealed > 0 then
    update millrace.audit_seal_state s set sealed_xid = v_last.xid, sealed_audit_id = v_last.audit_id where s.only_row;
  end if;
  if v_from <> v_state.sealed_xid and v_sealed < p_limit then
    update millrace.audit_seal_state s
       set sealed_xid = '0'::xid8, sealed_audit_id = 0,
           floor_audit_id = coalesce((select max(o.audit_id) from millrace.audit_seal o), 0)
     where s.only_row;
  end if;
  return v_sealed;
end;
$$;
