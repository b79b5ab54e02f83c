-- millrace.reclaim_leases: lost deliveries, locked by the caller, are charged and retried (see millrace.lose_jobs). Answers how many.
create or replace function millrace.reclaim_leases(p_job_ids uuid[], p_error_type text, p_process_death boolean, p_at_once boolean default false) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_leases millrace.lease[];
begin
  if coalesce(cardinality(p_job_ids), 0) = 0 then
    return 0;
  end if;
  with d as (delete from millrace.lease l where l.job_id = any (p_job_ids) returning l.*)
  select array_agg(row(d.*)::millrace.lease) into v_leases from d;
  perform millrace.lose_jobs(array(select millrace.moving_of(l) from unnest(v_leases) l), array(select l.job_id from unnest(v_leases) l where l.alone),
                             array(select l.job_id from unnest(v_leases) l where l.process is null), p_error_type, p_process_death, p_at_once);
  return coalesce(cardinality(v_leases), 0);
end;
$$;
