-- millrace.claim_jobs: hands jobs of one queue to a worker process, with what a handler needs.
-- p_job_types: the types it has handlers for (null: all). p_marks: see millrace.claim_marked_groups.
-- p_alone: exactly one suspect (a job whose worker processes died under it), to be run with nothing beside it.
-- Fewer than p_limit: there are no more, and a notification was asked for; what was committed meanwhile is found by asking once more.
-- p_ranges: the caller understands stretches of a lane (see millrace.delivery) and settles them by millrace.complete_claims.
-- p_bare: and that it asks millrace.claim_lines for the jobs of those that come without.
-- p_plan: claims nothing, for nobody, but this session has then planned what a claim needs.
create or replace function millrace.claim_jobs(
    p_worker_id text, p_process uuid, p_queue text, p_limit integer, p_job_types text[] default null, p_marks jsonb default null,
    p_alone boolean default false, p_ranges boolean default false, p_plan boolean default false, p_bare boolean default false)
  returns setof millrace.delivery
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_queue smallint;
  v_known boolean;
  v_types smallint[];
  v_got integer := 0;
  v_row millrace.delivery;
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    raise exception 'p_limit must be between 1 and 10000' using errcode = 'MR024';
  end if;
  select q.queue_id, exists (select from millrace.worker w where w.worker_id = p_worker_id and w.nonce = p_process),
         case when p_job_types is not null then array(select t.type_id from millrace.job_type t where t.job_type = any (p_job_types)) end
    into v_queue, v_known, v_types
    from millrace.queue q where q.queue = p_queue;
  if not found then
    raise exception 'queue % does not exist', quote_literal(p_queue) using errcode = 'MR007';
  end if;
  if not v_known and p_plan is not true then
    raise exception 'worker % is not registered', p_worker_id using errcode = 'MR023';
  end if;
  for v_row in
    select d.* from millrace.claim_core(p_worker_id, p_process, array[v_queue], v_types, millrace.tenant_scope(), null,
                                        case when p_plan then 0 when p_alone then 1 else p_limit end, null, true, p_marks, p_alone, p_ranges, p_bare) d
  loop
    v_got := v_got + case when v_row.job_id is null then millrace.claim_size(v_row.token) else 1 end;
    return next v_row;
  end loop;
  -- A claim that was long under way may find that its process has left: then nobody would know of it.
  if v_got > 0 or p_plan then
    perform from millrace.worker w where w.worker_id = p_worker_id and w.nonce = p_process for key share;
    if not found and p_plan is not true then
      raise exception 'worker % is not registered', p_worker_id using errcode = 'MR023';
    end if;
  end if;
  if v_got < p_limit and p_marks is null and not p_alone then
    perform millrace.arm_wake(v_queue);
  end if;
end;
$$;
