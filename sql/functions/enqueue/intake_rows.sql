-- millrace.intake_rows: statement trigger of millrace.job_intake: what COPY (or INSERT) brought becomes jobs of the same
-- transaction; the intake itself stays empty.
create or replace function millrace.intake_rows() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_all record;
begin
  if exists (select from new_rows r where r.delay_seconds < 0) then
    raise exception 'delay_seconds must not be negative' using errcode = 'MR006';
  end if;
  -- Plain jobs of one kind go the short way.
  select min(r.job_type) as job_type, min(r.queue) as queue, min(r.priority) as priority, array_agg(r.payload) as payloads into v_all from new_rows r
  having count(distinct (r.job_type, r.queue, r.priority)) = 1
     and count(*) filter (where num_nonnulls(r.delay_seconds, r.scheduled_at, r.job_name, r.dedupe_key, r.serial_key, r.concurrency_key,
                                             r.correlation_id, r.batch_id, r.id) > 0) = 0;
  perform from millrace.enqueue_plain(v_all.job_type, v_all.queue, v_all.priority, v_all.payloads, millrace.current_tenant());
  if found then
    delete from millrace.job_intake;
    return null;
  end if;
  perform e.job_id from millrace.enqueue_specs(
    array(select (n.i, n.id, n.job_type, n.queue, n.payload, n.job_name, null, null, n.priority,
                  coalesce(n.scheduled_at, millrace.now() + make_interval(secs => n.delay_seconds::double precision)), n.dedupe_key, null,
                  n.serial_key, n.concurrency_key, null, null, n.correlation_id, null, null, null, n.batch_id, null, null, null, null,
                  null, null, null)::millrace.job_spec
            from (select row_number() over () as i, r.* from new_rows r) n),
    millrace.current_tenant()) e;
  delete from millrace.job_intake;
  return null;
end;
$$;
