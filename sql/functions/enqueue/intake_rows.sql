-- millrace.intake_rows: statement trigger of millrace.job_intake: what COPY (or INSERT) brought becomes jobs of the same
-- transaction; the intake itself stays empty.
create or replace function millrace.intake_rows() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  if exists (select from new_rows r where r.delay_seconds < 0) then
    raise exception 'delay_seconds must not be negative' using errcode = 'MR006';
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
