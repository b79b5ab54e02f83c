-- millrace.list_jobs: a page of jobs the caller may see, newest first: {"jobs": […], "next": …}. The next page begins behind "next", null at the end.
-- p_filter may have queue, job_type, status, batch_id, correlation_id, owner_id (a user sees the own jobs, whatever it says) and fingerprint (of dead
-- letters). One call looks at 10 000 jobs at most, so that its cost is bounded whatever there is; where few of them match, a page is short, or empty,
-- with more behind it.
create or replace function millrace.list_jobs(p_filter jsonb default '{}', p_limit integer default 50, p_before uuid default null) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  v_tenant uuid := millrace.tenant_scope();
  v_status text := p_filter ->> 'status';
  -- A token without a user owns nothing.
  v_owner uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
                       else millrace.uuid_or_null(p_filter ->> 'owner_id') end;
  v_batch uuid := millrace.uuid_or_null(p_filter ->> 'batch_id');
  v_correlation text := p_filter ->> 'correlation_id';
  v_fingerprint text := p_filter ->> 'fingerprint';
  v_queue smallint;
  v_type smallint;
  v_wrong text;
  v_before uuid := coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_left integer := p_limit;
  v_looked integer := 0;
  v_ask integer;
  v_ids uuid[];
  v_some uuid[];
  v_found jsonb;
  v_last uuid;
  v_jobs jsonb := '[]';
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception 'p_limit must be between 1 and 1000' using errcode = 'MR024';
  end if;
  if p_filter is null or jsonb_typeof(p_filter) <> 'object' then
    raise exception 'p_filter must be a JSON object' using errcode = 'MR024';
  end if;
  select k into v_wrong from jsonb_object_keys(p_filter) k
   where k not in ('queue', 'job_type', 'status', 'batch_id', 'correlation_id', 'owner_id', 'fingerprint') or jsonb_typeof(p_filter -> k) <> 'string' order by k limit 1;
  if found then
    raise exception 'p_filter: % must be text, and one of queue, job_type, status, batch_id, correlation_id, owner_id, fingerprint', quote_literal(v_wrong)
      using errcode = 'MR024';
  end if;
  if v_status not in ('pending', 'processing', 'retrying', 'deferred', 'completed', 'failed', 'cancelled') then
    raise exception 'status must be one of pending, processing, retrying, deferred, completed, failed, cancelled' using errcode = 'MR024';
  end if;
  v_wrong := case when p_filter ? 'owner_id' and millrace.uuid_or_null(p_filter ->> 'owner_id') is null then 'owner_id'
                  when p_filter ? 'batch_id' and v_batch is null then 'batch_id' end;
  if v_wrong is not null then
    raise exception '% must be a uuid', v_wrong using errcode = 'MR024';
  end if;
  -- A name that nobody has given yet is no mistake: nothing has it.
  v_queue := (select q.queue_id from millrace.queue q where q.queue = p_filter ->> 'queue');
  v_type := (select t.type_id from millrace.job_type t where t.job_type = p_filter ->> 'job_type');
  if (v_queue is null and p_filter ? 'queue') or (v_type is null and p_filter ? 'job_type') then
    return jsonb_build_object('jobs', v_jobs, 'next', null);
  end if;
  while v_left > 0 and v_before is not null and v_looked < 10000 loop
    v_ask := case when v_looked = 0 then greatest(p_limit, 50) else 1000 end;
    v_ids := case when v_fingerprint is not null and v_owner is null and v_batch is null then millrace.dead_candidates(v_queue, v_fingerprint, v_before, v_ask)
                  else millrace.job_candidates(v_status, v_queue, v_type, v_tenant, v_owner, v_batch, v_before, v_ask) end;
    v_looked := v_looked + cardinality(v_ids);
    v_before := case when cardinality(v_ids) = v_ask then v_ids[v_ask] end;
    v_some := array(
      select f.job_id from unnest(v_ids) with ordinality u(job_id, n) join millrace.job_fact f on f.job_id = u.job_id
       where (v_tenant is null or f.tenant_id = v_tenant) and (v_queue is null or f.queue_id = v_queue) and (v_type is null or f.type_id = v_type)
         and (v_owner is null or f.owner_id = v_owner) and (v_correlation is null or f.correlation_id = v_correlation)
         and (v_batch is null or f.batch_id = v_batch)
         and (v_fingerprint is null or v_fingerprint = (select case when h.redriven_at is null then h.fingerprint end from millrace.job_history h
                                                         where h.job_id = f.job_id order by h.generation desc limit 1))
       order by u.n);
    -- Of those that are left, no more are looked up than the page can take, until it is full.
    while v_left > 0 and cardinality(v_some) > 0 loop
      select jsonb_agg(s.summary order by s.job_id desc) filter (where v_status is null or s.status = v_status) into v_found
        from millrace.job_summaries(v_some[1 : v_left]) s;
      v_last := v_some[least(v_left, cardinality(v_some))];
      v_some := v_some[v_left + 1 :];
      v_left := v_left - coalesce(jsonb_array_length(v_found), 0);
      v_jobs := v_jobs || coalesce(v_found, '[]');
    end loop;
    if v_left = 0 and (cardinality(v_some) > 0 or v_before is not null) then
      v_before := v_last;
    end if;
  end loop;
  return jsonb_build_object('jobs', v_jobs, 'next', v_before);
end;
$$;
