-- millrace.complete_jobs: plain success of many deliveries; the form of millrace.settle_jobs that workers use most.
-- p_results: null, or a JSON array with one entry per job in the same order.
create or replace function millrace.complete_jobs(p_worker_id text, p_job_ids uuid[], p_tokens uuid[], p_results jsonb default null)
  returns table (job_id uuid, answer text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_items millrace.moving[];
  v_taken millrace.moving[];
begin
  if cardinality(p_job_ids) is distinct from cardinality(p_tokens)
     or (p_results is not null and jsonb_array_length(p_results) <> cardinality(p_job_ids)) then
    raise exception 'p_job_ids, p_tokens and p_results must have the same length' using errcode = 'MR016';
  end if;
  if p_results is not null and pg_column_size(p_results) > 65536 then
    return query
    select s.job_id, s.answer from millrace.settle_jobs(p_worker_id, (
      select jsonb_agg(jsonb_build_object('job_id', u.job_id, 'token', u.token, 'outcome', 'ok', 'result', p_results -> (u.i::integer - 1)) order by u.i)
        from unnest(p_job_ids, p_tokens) with ordinality u(job_id, token, i))) s;
    return;
  end if;
  v_items := array(
    select row(u.job_id, null, null, null, null, null, null, null, null, 0, 0, 0, null, null, u.token, p_worker_id, null, null, null, null, null, null,
               'ok', null, nullif(p_results -> (u.i::integer - 1), 'null'::jsonb), null, null, null, null, null, null, null, null)::millrace.moving
      from unnest(p_job_ids, p_tokens) with ordinality u(job_id, token, i));
  v_taken := millrace.take_leases(p_worker_id, v_items);
  perform millrace.settle_core(v_taken, p_worker_id);
  return query select a.* from millrace.answers_of(v_items, v_taken) a;
end;
$$;
