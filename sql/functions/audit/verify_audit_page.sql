-- millrace.verify_audit_page: millrace.verify_audit in pieces, for the tenant of the call (none: for all): {"problems": […], "next": …}. First the chains
-- are hashed again, p_limit seals at a time, then the rows are looked up in them, p_limit at a time; p_after is "next" of the piece before, null at the
-- end. No piece depends on another but for where it begins, so together they say what verify_audit says, without its checkpoint: rows that are written
-- meanwhile are no problem, nor are rows that are dropped and seals that are trimmed.
create or replace function millrace.verify_audit_page(p_after jsonb default null, p_limit integer default 10000) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_custom_plan
as $$
declare
  v_tenant uuid := millrace.tenant_scope();
  v_kept_from timestamptz := millrace.now() - millrace.retention('audit', 2555);
  v_dropped_before timestamptz := coalesce((select f.dropped_before from millrace.audit_floor f), '-infinity');
  v_state millrace.audit_seal_state;
  v_chain uuid;
  v_seq bigint;
  v_seq_before bigint;
  v_hash bytea;
  v_all_gone boolean;
  v_at timestamptz;
  v_id bigint;
  v_looked bigint;
  v_last jsonb;
  v_problems jsonb;
begin
  if p_limit is null or p_limit not between 1 and 100000 then
    raise exception 'p_limit must be between 1 and 100000' using errcode = 'MR024';
  end if;
  begin
    v_at := (p_after ->> 'at')::timestamptz;
    v_id := coalesce((p_after ->> 'audit_id')::bigint, 0);
    v_chain := coalesce((p_after ->> 'tenant_id')::uuid, v_tenant, '00000000-0000-0000-0000-000000000000');
    v_seq := coalesce((p_after ->> 'chain_seq')::bigint, 0);
    v_all_gone := coalesce((p_after ->> 'all_gone')::boolean, true);
  exception when data_exception then
    raise exception 'p_after must be "next" of the piece before' using errcode = 'MR024';
  end;
  if v_at is null then
    v_hash := (select s.hash from millrace.audit_seal s where s.tenant_id = v_chain and s.chain_seq = v_seq);
    v_seq_before := v_seq;
    if v_hash is null then
      -- Here a chain begins; or the seal that the piece before ended with was trimmed since, and all before it.
      v_hash := millrace.audit_seed(v_chain);
      v_seq_before := 0;
      v_all_gone := true;
    end if;
    with piece as materialized (
      select s.* from millrace.audit_seal s
       where (v_tenant is null or s.tenant_id = v_tenant) and (s.tenant_id, s.chain_seq) > (v_chain, v_seq)
       order by s.tenant_id, s.chain_seq limit p_limit),
    chain as (
      select s.tenant_id, s.chain_seq, s.audit_id, s.at, s.hash, a.audit_id is null as gone,
             lag(s.chain_seq, 1, case when s.tenant_id = v_chain then v_seq_before else 0 end) over w as seq_before,
             lag(s.hash, 1, case when s.tenant_id = v_chain then v_hash else millrace.audit_seed(s.tenant_id) end) over w as hash_before,
             bool_and(a.audit_id is null) over w and (s.tenant_id <> v_chain or v_all_gone) as all_gone,
             case when a.audit_id is not null then millrace.audit_digest(a) end as digest
        from piece s
        left join millrace.audit a on a.at = s.at and a.audit_id = s.audit_id
      window w as (partition by s.tenant_id order by s.chain_seq)),
    judged as (
      select c.*, case when c.gone and not ((c.all_gone and c.at < greatest(v_kept_from, v_dropped_before)) or c.at < least(v_kept_from, v_dropped_before))
                         then 'missing: the sealed row is not in the audit'
                       when c.chain_seq <> c.seq_before + 1 and not (c.seq_before = 0 and c.gone)
                         then 'cut: no seal between ' || c.seq_before || ' and ' || c.chain_seq
                       when not c.gone and c.hash is distinct from sha256(c.hash_before || c.digest) then 'changed: the row does not match its seal'
                  end as problem
        from chain c)
    select count(*),
           jsonb_agg(jsonb_build_object('tenant_id', j.tenant_id, 'chain_seq', j.chain_seq, 'audit_id', j.audit_id, 'problem', j.problem)
                     order by j.tenant_id, j.chain_seq) filter (where j.problem is not null),
           (array_agg(jsonb_build_object('tenant_id', j.tenant_id, 'chain_seq', j.chain_seq, 'all_gone', j.all_gone)
                      order by j.tenant_id desc, j.chain_seq desc))[1]
      into v_looked, v_problems, v_last from judged j;
    return jsonb_build_object('problems', coalesce(v_problems, '[]'),
                              'next', case when v_looked = p_limit then v_last else jsonb_build_object('at', '-infinity', 'audit_id', 0) end);
  end if;
  select s.* into v_state from millrace.audit_seal_state s;
  with piece as materialized (
    select a.at, a.audit_id, a.tenant_id, a.xid from millrace.audit a
     where (a.at, a.audit_id) > (v_at, v_id) order by a.at, a.audit_id limit p_limit)
  select count(*),
         jsonb_agg(jsonb_build_object('tenant_id', p.tenant_id, 'chain_seq', null, 'audit_id', p.audit_id,
                                      'problem', 'unsealed: the row is older than the last seal but in no chain') order by p.at, p.audit_id)
           filter (where (v_tenant is null or p.tenant_id = v_tenant)
                     and (p.audit_id <= v_state.floor_audit_id or (p.xid, p.audit_id) <= (v_state.sealed_xid, v_state.sealed_audit_id))
                     and not exists (select from millrace.audit_seal s where s.audit_id = p.audit_id and s.tenant_id = p.tenant_id and s.at = p.at)),
         (array_agg(jsonb_build_object('at', p.at, 'audit_id', p.audit_id) order by p.at desc, p.audit_id desc))[1]
    into v_looked, v_problems, v_last from piece p;
  return jsonb_build_object('problems', coalesce(v_problems, '[]'), 'next', case when v_looked = p_limit then v_last end);
end;
$$;
