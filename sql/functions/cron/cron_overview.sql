-- millrace.cron_overview: the cron entries the caller may see, for people.
create or replace function millrace.cron_overview()
  returns table (cron_id uuid, tenant_id uuid, name text, schedule text, time_zone text,
                 enabled boolean, missed text, next_due_at timestamptz, last_due_at timestamptz,
                 last_job_id uuid, last_error text, job jsonb)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
begin
  return query
  select c.cron_id, c.tenant_id, c.name, c.schedule, c.time_zone, c.enabled, c.missed,
         case when c.enabled then c.next_due_at end, c.last_due_at, c.last_job_id, c.last_error,
         c.job
    from millrace.cron c
   where v_scope is null or c.tenant_id = v_scope
   order by c.tenant_id, c.name;
end;
$$;
