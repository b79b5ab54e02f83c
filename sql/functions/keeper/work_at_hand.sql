-- millrace.work_at_hand: whether the keeper's frequent duties may find something within the next seconds. While nothing runs, waits for a
-- time that is near, or has been left to be done, they need not look every moment; that they look at all is the guarantee.
create or replace function millrace.work_at_hand() returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_soon timestamptz := millrace.now() + interval '5 seconds';
begin
  return exists (select from millrace.handoff) or exists (select from millrace.counter_delta)
    or exists (select from millrace.lease) or exists (select from millrace.claim_open)
    or exists (select from millrace.delayed d where d.due_at <= v_soon) or exists (select from millrace.delayed d where d.due_at = 'infinity')
    or exists (select from millrace.ready r where r.start_deadline <= v_soon) or exists (select from millrace.delayed d where d.start_deadline <= v_soon)
    or exists (select from millrace.cron c where c.enabled and c.next_due_at <= v_soon)
    or exists (select from millrace.worker w where w.lease_until <= v_soon);
end;
$$;
