-- millrace.intake_rows: statement trigger of millrace.job_intake: what COPY (or INSERT) brought becomes jobs of the same
-- transaction; the intake itself stays empty. Rows are taken out by their transaction: to look through the table would mean to
-- read what others took out before, for as long as a snapshot keeps it there.
create or replace function millrace.intake_rows() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_xid xid8 := pg_current_xact_id();
  v_first record;
  v_all record;
begin
  select r.job_type, r.queue, r.priority into v_first from new_rows r limit 1;
  select count(*) filter (where r.delay_seconds < 0) as negative, count(*) filter (where r.xid <> v_xid) as strange,
         count(*) filter (where r.job_type is distinct from v_first.job_type or r.queue is distinct from v_first.queue
                             or r.priority is distinct from v_first.priority
                             or num_nonnulls(r.delay_seconds, r.scheduled_at, r.job_name, r.dedupe_key, r.serial_key, r.concurrency_key,
                                             r.correlation_id, r.batch_id, r.id) > 0) as special,
         array_agg(r.payload) as payloads
    into v_all from new_rows r;
  if v_all.negative > 0 then
    raise exception 'delay_seconds must not be negative' using errcode = 'MR006';
  elsif v_all.strange > 0 then
    raise exception 'xid is not to be given: it is the transaction that writes the row' using errcode = 'MR024';
  end if;
  -- Plain jobs of one kind go the short way.
  if v_all.special = 0 then
    perform from millrace.enqueue_plain(v_first.job_type, v_first.queue, v_first.priority, v_all.payloads, millrace.current_tenant());
    if found then
      delete from millrace.job_intake i where i.xid = v_xid;
      return null;
    end if;
  end if;
  perform e.job_id from millrace.enqueue_specs(
    array(select (n.i, n.id, n.job_type, n.queue, n.payload, n.job_name, null, null, n.priority,
                  coalesce(n.scheduled_at, millrace.now() + make_interval(secs => n.delay_seconds::double precision)), n.dedupe_key, null,
                  n.serial_key, n.concurrency_key, null, null, n.correlation_id, null, null, null, n.batch_id, null, null, null, null,
                  null, null, null)::millrace.job_spec
            from (select row_number() over () as i, r.* from new_rows r) n),
    millrace.current_tenant()) e;
  delete from millrace.job_intake i where i.xid = v_xid;
  return null;
end;
$$;
