-- millrace.check_trim: trigger, once a statement; of the seals only those go that are older than the audit is kept and lie before what retention has dropped,
-- and behind them stays one of which the same is true: the newest of a chain never goes, nor the one that the rest is verified from.
create or replace function millrace.check_trim() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp set jit = off set enable_seqscan = off
as $$
declare
  v_before timestamptz := least(coalesce((select f.dropped_before from millrace.audit_floor f), '-infinity'), millrace.now() - millrace.retention('audit', 2555));
begin
  if exists (select from old_rows o where o.at >= v_before)
     or exists (select from (select g.tenant_id, max(g.chain_seq) as last_seq from old_rows g group by g.tenant_id) o
                 where coalesce((select s.at from millrace.audit_seal s where s.tenant_id = o.tenant_id and s.chain_seq > o.last_seq
                                  order by s.chain_seq limit 1), 'infinity') >= v_before) then
    raise exception 'delete of audit_seal is refused: the chain of what is kept would be cut'
      using errcode = 'MR022', hint = 'seals go with the retention of the audit, but for the last one of a chain';
  end if;
  return null;
end;
$$;
