-- millrace.job_logs: the captured log lines of a job, oldest first.
create or replace function millrace.job_logs(p_job_id uuid, p_limit integer default 1000)
  returns table (at timestamptz, delivery integer, level text, message text)
  language sql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
  select g.at, g.delivery_count, g.level, g.message from millrace.job_log g
   where g.job_id = p_job_id and (millrace.tenant_scope() is null or g.tenant_id = millrace.tenant_scope())
   order by g.log_seq limit least(greatest(p_limit, 1), 10000)
$$;
