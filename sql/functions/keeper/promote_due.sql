-- millrace.promote_due: delayed jobs whose time has come become ready, oldest first.
create or replace function millrace.promote_due(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  return millrace.promote_rows(array(
    select d.job_id from millrace.delayed d where d.due_at <= millrace.now() order by d.due_at limit p_limit for update skip locked));
end;
$$;
