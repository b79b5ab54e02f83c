-- millrace.cron_now: one extra run of a cron entry of the tenant, now; the schedule does not move.
-- Works for an entry that is switched off. Not idempotent: every call is a run, unless the job's
-- dedupe key finds a live one.
create or replace function millrace.cron_now(p_name text) returns uuid
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
  v_job uuid;
begin
  select c.cron_id, c.tenant_id, c.name, c.job into v_row
    from millrace.cron c
   where c.tenant_id = millrace.current_tenant() and c.name = p_name
     for update;
  if not found then
    raise exception 'cron entry "%" does not exist', left(coalesce(p_name, ''), 200)
      using errcode = 'MR024';
  end if;
  v_job := millrace.enqueue_cron(v_row.tenant_id, v_row.name, v_row.job);
  update millrace.cron c set last_job_id = v_job where c.cron_id = v_row.cron_id;
  return v_job;
end;
$$;
