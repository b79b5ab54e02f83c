-- millrace.export_room: what a user's exports take at this moment: how many run, the bytes of those that can be downloaded, and the bytes that are kept
-- for those that are not finished. Forgets reservations of exports that have ended; one of an export that has failed stays, empty, until it is a month old
-- (millrace.clear_exports): it keeps the version that was ordered for an operator who redrives it. The caller holds the user's lock (millrace.order_exports).
create or replace function millrace.export_room(p_tenant uuid, p_user_id uuid, out running integer, out used bigint, out reserved bigint)
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended uuid[];
  v_failed uuid[];
begin
  -- One look for all of it: a job that moves is in one place. Nearly all of a user's are waiting, and found by a key.
  with kept as materialized (
    select r.job_id, r.bytes,
           case when (select l.cancel_requested_at is null from millrace.lease l where l.job_id = r.job_id) then 'processing'
                when exists (select from millrace.lease l where l.job_id = r.job_id) then 'stopping'  -- Whoever cancels one and orders another has room for it.
                when r.bytes = 0 then 'empty'  -- Nothing to be counted, nor to be looked for in the history.
                when (select true from millrace.ready w where w.job_id = r.job_id) then 'pending'
                else coalesce((select b.status from millrace.job_brief_of(r.job_id, false) b), 'gone') end as status
      from millrace.export_reservation r where r.tenant_id = p_tenant and r.user_id = p_user_id)
  select count(*) filter (where k.status = 'processing'),
         -- A job that has written its history has no more to come.
         coalesce(sum(k.bytes) filter (where k.status not in ('completed', 'failed', 'cancelled', 'gone')
                                         and not exists (select from millrace.export_history h where h.job_id = k.job_id)), 0),
         array_agg(k.job_id) filter (where k.status in ('completed', 'cancelled', 'gone')),
         array_agg(k.job_id) filter (where k.status = 'failed')
    into running, reserved, v_ended, v_failed
    from kept k;
  if v_ended is not null then
    delete from millrace.export_reservation r where r.job_id = any (v_ended);
  end if;
  if v_failed is not null then
    update millrace.export_reservation r set bytes = 0 where r.job_id = any (v_failed);
  end if;
  used := millrace.export_used(p_tenant, p_user_id);
end;
$$;
