-- millrace.expire_defaults: retention of the default partitions, which are never dropped: jobs that were moved there because they lived
-- longer than their partition, and jobs whose producer chose an id that is no time. What ended before p_before goes.
create or replace function millrace.expire_defaults(p_before timestamptz, p_limit integer) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_old uuid[];
begin
  v_old := array(
    select f.job_id from millrace.job_fact_default f
     where f.created_at < p_before
       and not exists (select from millrace.ready r where r.job_id = f.job_id)
       and not exists (select from millrace.delayed d where d.job_id = f.job_id)
       and not exists (select from millrace.lease l where l.job_id = f.job_id)
       and not exists (select from millrace.job_history h where h.job_id = f.job_id and h.finished_at >= p_before)
       and not exists (select from millrace.lane_state(f.job_id) s where s.state <> 'completed' or s.finished_at >= p_before)
     limit p_limit);
  if cardinality(v_old) = 0 then
    return 0;
  end if;
  perform set_config('millrace.retention', 'on', true);
  delete from millrace.job_log g where g.job_id = any (v_old);
  delete from millrace.attempt a where a.job_id = any (v_old);
  delete from millrace.job_history h where h.job_id = any (v_old);
  delete from millrace.job_fact f where f.job_id = any (v_old);
  perform set_config('millrace.retention', '', true);
  return cardinality(v_old);
end;
$$;
