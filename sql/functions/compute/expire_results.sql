-- millrace.expire_results: results and artifacts whose jobs are forgotten, artifacts past their time, and questions nobody asked for a day.
create or replace function millrace.expire_results(p_limit integer) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  -- A partition of jobs goes as a whole, up to its length later than its oldest job: before that, only jobs that lived long are left, and a look at the
  -- oldest results finds what it looks for.
  v_before timestamptz := millrace.now() - millrace.retention('history', 30)
    - make_interval(mins => coalesce(millrace.config_integer('partition.minutes', null), millrace.config_integer('partition.days', 7) * 1440));
  v_count integer;
  v_total integer := 0;
begin
  delete from millrace.result r using (
    select x.id from millrace.result x where x.created_at < v_before and not exists (select from millrace.job_fact f where f.job_id = x.job_id)
     order by x.created_at limit p_limit for update skip locked) s
   where r.id = s.id;
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  delete from millrace.artifact a using (
    select x.id from millrace.artifact x
     where x.created_at < v_before and not exists (select from millrace.job_fact f where f.job_id = x.job_id)
     order by x.created_at limit p_limit for update skip locked) s
   where a.id = s.id;
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  delete from millrace.artifact a using (
    select x.id from millrace.artifact x where x.expires_at < millrace.now() order by x.expires_at limit p_limit for update skip locked) s
   where a.id = s.id;
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  delete from millrace.compute_job c using (
    select x.tenant_id, x.app_id, x.compute_key from millrace.compute_job x where x.asked_at < millrace.now() - interval '1 day' limit p_limit for update skip locked) s
   where c.tenant_id = s.tenant_id and c.app_id = s.app_id and c.compute_key = s.compute_key;
  get diagnostics v_count = row_count;
  return v_total + v_count;
end;
$$;
