-- millrace.enqueue_singles: millrace.enqueue_jobs for jobs that came one by one and at the same time, such as in requests to a server: most of them are
-- plain, and go the short way. All or none; answers one row per job, in order.
create or replace function millrace.enqueue_singles(p_jobs jsonb)
  returns table (ord integer, job_id uuid, answer text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_tenant uuid := millrace.current_tenant();
  v_ids uuid[] := millrace.enqueue_plain_list(p_jobs, v_tenant);
begin
  if v_ids is not null then
    return query select u.i::integer, u.id, 'created' from unnest(v_ids) with ordinality u(id, i);
  else
    return query select e.ord, e.job_id, e.answer from millrace.enqueue_specs(millrace.specs_from_json(p_jobs), v_tenant) e;
  end if;
end;
$$;
