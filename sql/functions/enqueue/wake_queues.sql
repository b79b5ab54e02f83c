-- millrace.wake_queues: notifies workers that wait for one of these queues, and only those: under load nobody waits, so no
-- transaction pays for a notification. A hint; polling is the guarantee.
create or replace function millrace.wake_queues(p_queue_ids smallint[]) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_woken smallint[];
begin
  -- Under load nobody waits, and to look costs a third of trying.
  if not exists (select from millrace.wake w where w.queue_id = any (p_queue_ids) and w.armed) then
    return;
  end if;
  with armed as materialized (
    select w.queue_id from millrace.wake w where w.queue_id = any (p_queue_ids) and w.armed for update skip locked),
  disarmed as (
    update millrace.wake w set armed = false from armed a where w.queue_id = a.queue_id returning w.queue_id)
  select array_agg(d.queue_id) into v_woken from disarmed d;
  if v_woken is not null then
    perform pg_notify('millrace_wake', array_to_string(v_woken, ','));
  end if;
end;
$$;
