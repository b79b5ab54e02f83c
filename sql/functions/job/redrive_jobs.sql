-- millrace.redrive_jobs: dead letters start again as a new generation of the same job, with a fresh attempt budget. Oldest first;
-- p_per_minute spreads them so that a repaired service is not overrun. The old outcome stays in history.
-- Answers: redriven, duplicate (see millrace.redrive_one); of jobs that were named also not_failed, not_found, and busy when somebody
-- else moves the job at this moment: ask again.
create or replace function millrace.redrive_jobs(
    p_filter jsonb, p_limit integer default 1000, p_per_minute integer default null, p_reason text default null)
  returns table (job_id uuid, answer text, due_at timestamptz)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_now timestamptz := millrace.now();
  v_dead record;
  v_n integer := 0;
  v_seen uuid[] := '{}';
  v_ids uuid[] := case when p_filter ? 'job_ids' then array(select millrace.uuid_or_null(x) from jsonb_array_elements_text(p_filter -> 'job_ids') x) end;
  v_bad text := (select k from jsonb_object_keys(p_filter) k where k not in ('job_ids', 'queue', 'job_type', 'fingerprint', 'failed_before') limit 1);
begin
  if v_bad is not null then
    raise exception 'unknown filter %', v_bad using errcode = 'MR024', hint = 'job_ids, queue, job_type, fingerprint, failed_before';
  end if;
  if p_limit is null or p_limit not between 1 and 100000 or p_per_minute < 1 then
    raise exception 'p_limit must be between 1 and 100000, p_per_minute at least 1' using errcode = 'MR024';
  end if;
  if p_filter ? 'queue' and not exists (select from millrace.queue q where q.queue = p_filter ->> 'queue') then
    raise exception 'queue % does not exist', quote_literal(p_filter ->> 'queue') using errcode = 'MR007';
  end if;
  for v_dead in
    select h.job_id, h.generation, f.priority, f.flags, f.queue_id, f.type_id, f.tenant_id, f.dedupe_key, f.serial_key, f.seq, f.batch_id
      from millrace.job_history h join millrace.job_fact f on f.job_id = h.job_id
     where h.status = 'failed' and h.redriven_at is null and (v_scope is null or h.tenant_id = v_scope)
       and (v_ids is null or h.job_id = any (v_ids))
       and (not p_filter ? 'queue' or h.queue_id = (select q.queue_id from millrace.queue q where q.queue = p_filter ->> 'queue'))
       and (not p_filter ? 'job_type' or h.type_id = (select t.type_id from millrace.job_type t where t.job_type = p_filter ->> 'job_type'))
       and (not p_filter ? 'fingerprint' or h.fingerprint = p_filter ->> 'fingerprint')
       and (not p_filter ? 'failed_before' or h.finished_at < millrace.parse_time(p_filter ->> 'failed_before', 'failed_before'))
     order by h.job_id limit p_limit for update of h skip locked
  loop
    job_id := v_dead.job_id;
    v_seen := v_seen || v_dead.job_id;
    due_at := case when p_per_minute is null then v_now else v_now + v_n * interval '1 minute' / p_per_minute end;
    answer := millrace.redrive_one(v_dead.job_id, v_dead.generation, due_at, p_reason);
    v_n := v_n + case when answer = 'redriven' then 1 else 0 end;
    return next;
  end loop;
  if v_ids is not null then
    return query
    select u, case when not exists (select from millrace.job_fact f where f.job_id = u and (v_scope is null or f.tenant_id = v_scope)) then 'not_found'
                   when d.dead then 'busy' else 'not_failed' end, null::timestamptz
      from unnest(v_ids) u
      cross join lateral (select exists (select from millrace.job_history h where h.job_id = u and h.status = 'failed' and h.redriven_at is null
                                            and (v_scope is null or h.tenant_id = v_scope)) as dead) d
     where not u = any (v_seen)
       -- A dead one may also have been left out by the limit or by another filter.
       and (not d.dead or (cardinality(v_seen) < p_limit and p_filter - 'job_ids' = '{}'::jsonb));
  end if;
end;
$$;
