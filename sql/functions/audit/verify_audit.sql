-- millrace.verify_audit: what is wrong with the audit of a tenant (null: of all the caller may see); no row means nothing.
-- Each sealed row is hashed again onto the stored hash before it, so a change is reported where it is. Positions must be
-- without gap, and every row at or before the sealer's position must be in a chain. A chain that was cut at its
-- end, or hashed anew as a whole, only a checkpoint from outside can show (millrace.audit_checkpoint: one object, or an
-- array of them). Rows older than the retention of the audit at the beginning of a chain were dropped by rule, and are no problem.
create or replace function millrace.verify_audit(p_tenant uuid default null, p_checkpoint jsonb default null)
  returns table (tenant_id uuid, chain_seq bigint, audit_id bigint, problem text)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant uuid := coalesce(p_tenant, millrace.tenant_scope());
  v_state millrace.audit_seal_state;
  v_kept_from timestamptz := millrace.now() - millrace.retention('audit', 2555);
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
    window w as (partition by s.tenant_id order by s.chain_seq))
  select c.tenant_id, c.chain_seq, c.audit_id,
         case when c.gone then 'missing: the sealed row is not in the audit'
              when c.chain_seq <> c.seq_before + 1 then 'cut: no seal between ' || c.seq_before || ' and ' || c.chain_seq
              else 'changed: the row does not match its seal' end
    from chain c
   where (c.gone and not (c.all_gone and c.at < v_kept_from))
      or c.chain_seq <> c.seq_before + 1
      or (not c.gone and c.hash is distinct from sha256(c.hash_before || c.digest));

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
   where (v_tenant is null or c.tenant_id = v_tenant)
     and c.hash is distinct from encode(coalesce(s.hash, case when c.chain_seq = 0 then millrace.audit_seed(c.tenant_id) end), 'hex');
end;
$$;
