-- millrace.export_room: what a user's exports take at this moment: how many run, the bytes of those that can be downloaded, and the bytes that are kept
-- for those that are not finished. Forgets reservations of exports that have ended. The caller holds the user's lock (millrace.order_exports).
create or replace function millrace.export_room(p_tenant uuid, p_user_id uuid, out running integer, out used bigint, out reserved bigint)
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  delete from millrace.export_reservation r
   where r.tenant_id = p_tenant and r.user_id = p_user_id
     and coalesce((select b.status from millrace.job_brief_of(r.job_id, false) b), 'gone') in ('completed', 'failed', 'cancelled', 'gone');
  -- A job that has written its history has no more to come.
  select count(*) filter (where b.status = 'processing'),
         coalesce(sum(r.bytes) filter (where not exists (select from millrace.export_history h where h.job_id = r.job_id)), 0)
    into running, reserved
    from millrace.export_reservation r cross join lateral millrace.job_brief_of(r.job_id, false) b
   where r.tenant_id = p_tenant and r.user_id = p_user_id;
  select coalesce(sum(h.file_size), 0) into used from millrace.export_history h
   where h.user_id = p_user_id and h.tenant_id = p_tenant and h.expires_at > millrace.now();
end;
$$;
