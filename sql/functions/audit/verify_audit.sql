-- millrace.verify_audit: what is wrong with the audit of a tenant (null: of all the caller may see); no row means nothing.
-- Each sealed row is hashed again onto the stored hash before it, so a change is reported where it is. Positions must be
-- without gap, and every row at or before the sealer's position must be in a chain. A chain that was cut at its
-- end, or hashed anew as a whole, only a checkpoint from outside can show (millrace.audit_checkpoint: one object, or an
-- array of them). Rows at the beginning of a chain that are older than the audit is kept, or than what was dropped already, went by rule, and are no
-- problem; nor is one of which both is true, wherever it stood. Where a chain begins with the seal of such a row, what came before was trimmed
-- (millrace.trim_audit), and the rest is verified from its hash; a checkpoint of what was trimmed says nothing any more.
create or replace function millrace.verify_audit(p_tenant uuid default null, p_checkpoint jsonb default null)
  returns table (tenant_id uuid, chain_seq bigint, audit_id bigint, problem text)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_tenant uuid := coalesce(p_tenant, millrace.tenant_scope());
  v_state millrace.audit_seal_state;
  v_kept_from timestamptz := millrace.now() - millrace.retention('audit', 2555);
  v_dropped_before timestamptz := coalesce((select f.dropped_before from millrace.audit_floor f), '-infinity');
  v_checkpoints jsonb := case jsonb_typeof(p_checkpoint) when 'object' then jsonb_build_array(p_checkpoint)
                                                        when 'null' then null else p_checkpoint end;
begin
  if v_tenant <> coalesce(millrace.tenant_scope(), v_tenant) then
    raise exception 'p_tenant is not the tenant of this call' using errcode = 'MR015';
  end if;
  if v_checkpoints is not null and (jsonb_typeof(v_checkpoints) <> 'array' or exists (
       select from jsonb_array_elements(v_checkpoints) c
        where millrace.uuid_or_null(c ->> 'tenant_id') is null or (c ->> 'chain_seq') !~ '^[0-9]{1,18}$'
           or (c ->> 'chain_seq') is null or (c ->> 'hash') is null)) then
    raise exception 'p_checkpoint must hold tenant_id, chain_seq and hash' using errcode = 'MR024';
  end if;
  select s.* into v_state from millrace.audit_seal_state s;

  return query
  with chain as (
    select s.tenant_id, s.chain_seq, s.audit_id, s.at, s.hash, a.audit_id is null as gone,
           lag(s.chain_seq, 1, 0::bigint) over w as seq_before,
           lag(s.hash, 1, millrace.audit_seed(s.tenant_id)) over w as hash_before,
           bool_and(a.audit_id is null) over w as all_gone,
           case when a.audit_id is not null then millrace.audit_digest(a) end as digest
      from millrace.audit_seal s
      left join millrace.audit a on a.at = s.at and a.audit_id = s.audit_id
     where v_tenant is null or s.tenant_id = v_tenant
    window w as (partition by s.tenant_id order by s.chain_seq)),
  judged as (
    select c.*, case when c.gone and not ((c.all_gone and c.at < greatest(v_kept_from, v_dropped_before)) or c.at < least(v_kept_from, v_dropped_before))
                       then 'missing: the sealed row is not in the audit'
                     when c.chain_seq <> c.seq_before + 1 and not (c.seq_before = 0 and c.gone)
                       then 'cut: no seal between ' || c.seq_before || ' and ' || c.chain_seq
                     when not c.gone and c.hash is distinct from sha256(c.hash_before || c.digest) then 'changed: the row does not match its seal'
                end as fault
      from chain c)
  select j.tenant_id, j.chain_seq, j.audit_id, j.fault from judged j where j.fault is not null;

  return query
  select a.tenant_id, null::bigint, a.audit_id, 'unsealed: the row is older than the last seal but in no chain'
    from millrace.audit a
   where (v_tenant is null or a.tenant_id = v_tenant)
     and (a.audit_id <= v_state.floor_audit_id
          or (a.xid, a.audit_id) <= (v_state.sealed_xid, v_state.sealed_audit_id))
     and not exists (select from millrace.audit_seal s
                      where s.audit_id = a.audit_id and s.tenant_id = a.tenant_id and s.at = a.at);

  return query
  select c.tenant_id, c.chain_seq, s.audit_id,
         case when s.audit_id is null and c.chain_seq > 0 then 'cut: the chain ends before the checkpoint'
              else 'rewritten: the chain does not lead through the checkpoint' end
    from (select millrace.uuid_or_null(e ->> 'tenant_id') as tenant_id, (e ->> 'chain_seq')::bigint as chain_seq,
                 lower(e ->> 'hash') as hash
            from jsonb_array_elements(v_checkpoints) e) c
    left join millrace.audit_seal s on s.tenant_id = c.tenant_id and s.chain_seq = c.chain_seq
    left join lateral (select o.chain_seq, o.at, a.audit_id is null as gone
                         from millrace.audit_seal o left join millrace.audit a on a.at = o.at and a.audit_id = o.audit_id
                        where o.tenant_id = c.tenant_id order by o.chain_seq limit 1) f on true
   where (v_tenant is null or c.tenant_id = v_tenant)
     and not coalesce(c.chain_seq > 0 and c.chain_seq < f.chain_seq and f.gone and f.at < greatest(v_kept_from, v_dropped_before), false)
     and c.hash is distinct from encode(coalesce(s.hash, case when c.chain_seq = 0 then millrace.audit_seed(c.tenant_id) end), 'hex');
end;
$$;
