-- millrace.enqueue_specs: the one way a job comes into being: checks, keys, facts, places, dependencies, batch counts and evidence,
-- all in the caller's transaction. Either every job of the list exists afterwards or none.
-- Idempotent where a job has a dedupe or idempotency key, or an id of its own: a repeat finds the first one's job.
create or replace function millrace.enqueue_specs(p_specs millrace.job_spec[], p_tenant uuid, p_follow_up boolean default false)
  returns table (ord integer, job_id uuid, answer text)
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_facts millrace.job_fact[];
  v_existing uuid[];
  v_now timestamptz;
begin
  if coalesce(cardinality(p_specs), 0) = 0 then
    return;
  end if;
  if not millrace.config_boolean('system.enqueue_enabled', true) then
    raise exception 'enqueue is switched off by an operator'
      using errcode = 'MR021', hint = 'system_configuration key system.enqueue_enabled';
  end if;
  perform millrace.check_specs(p_specs, p_tenant);
  v_facts := millrace.resolve_specs(p_specs, p_tenant);
  if exists (select from unnest(p_specs) s where s.dedupe_key is not null or s.idempotency_key is not null or s.id is not null) then
    -- Ids before keys: a repeat must not take the keys of a job that has ended. Callers with an equal id wait for each other.
    perform pg_advisory_xact_lock(hashtextextended(s.id::text, 7078))
       from (select distinct u.id from unnest(p_specs) u where u.id is not null order by u.id) s;
    v_existing := array(
      select case when exists (select from millrace.job_fact o where o.job_id = s.id)
                    or s.i > min(s.i) over (partition by s.id) then s.id end
        from (select u.id, u.ordinality as i from unnest(p_specs) with ordinality u) s order by s.i);
    v_existing := millrace.take_keys(p_specs, v_facts, v_existing, p_tenant);
    if exists (select from unnest(v_existing) e(id) join millrace.job_fact o on o.job_id = e.id where o.tenant_id <> p_tenant) then
      raise exception 'id is in use' using errcode = 'MR024';
    end if;
    return query select (p_specs[i]).ord, coalesce(v_existing[i], (v_facts[i]).job_id),
                        case when v_existing[i] is null then 'created' else 'duplicate' end
                   from generate_subscripts(v_facts, 1) i order by 1;
    select array_agg(v_facts[i] order by i), array_agg(p_specs[i] order by i) into v_facts, p_specs
      from generate_subscripts(v_facts, 1) i where v_existing[i] is null;
    if v_facts is null then
      return;
    end if;
  else
    return query select (p_specs[i]).ord, (v_facts[i]).job_id, 'created' from generate_subscripts(v_facts, 1) i order by 1;
  end if;

  perform millrace.check_room(v_facts, p_tenant, p_follow_up);
  v_now := millrace.now();
  insert into millrace.job_fact select f.* from unnest(v_facts) f;
  -- The clock may have been set back since the facts were made.
  perform millrace.place_new(p_specs, v_facts, p_tenant, greatest(v_now, (select max(f.created_at) from unnest(v_facts) f)));

  insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, new_values, reason)
  select v_now, p_tenant, (v_facts[1]).created_by, 'job_queue',
         case when cardinality(v_facts) = 1 then (v_facts[1]).job_id::text end, 'INSERT', 'enqueued',
         array(select f.job_id from unnest(v_facts) f),
         case when cardinality(v_facts) = 1
              then jsonb_build_object('job_type', (p_specs[1]).job_type, 'job_id', (v_facts[1]).job_id,
                                      'scheduled_at', (v_facts[1]).scheduled_at)
              else jsonb_build_object('jobs', cardinality(v_facts)) end,
         'Job enqueued with correlation tracking';
  insert into millrace.event (at, tenant_id, kind, queue_id, job_ids)
  select v_now, p_tenant, 'job.enqueued', f.queue_id, array_agg(f.job_id) from unnest(v_facts) f group by f.queue_id;
end;
$$;
