-- millrace.take_keys: claims the dedupe and idempotency keys of new facts, except those that p_existing knows already. Returns, by
-- position, the id of the job that has the key (the fact is then not written), or null. Concurrent callers wait for each
-- other only on an equal key.
create or replace function millrace.take_keys(
    p_specs millrace.job_spec[], p_facts millrace.job_fact[], p_existing uuid[], p_tenant uuid)
  returns uuid[] language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_existing uuid[] := p_existing;
  v_open integer[];
  v_row record;
  v_job uuid;
  v_try integer := 0;
begin
  for v_row in
    select s.i, s.idempotency_key, s.request_hash, f.job_id
      from unnest(p_specs) with ordinality as s(ord, id, job_type, queue, payload, job_name, job_category, owner_id, priority,
             scheduled_at, dedupe_key, dedupe_keep, serial_key, concurrency_key, idempotency_key, request_hash, correlation_id,
             traceparent, pipeline, stage, batch_id, parent_id, after_jobs, after_mode, after_failure, max_attempts, run_timeout,
             start_deadline, i)
      cross join lateral (select (p_facts[s.i]).job_id) f
     where s.idempotency_key is not null and p_existing[s.i] is null
     order by s.idempotency_key, s.i
  loop
    loop
      insert into millrace.idempotency_key (tenant_id, idempotency_key, request_hash, job_id, created_at)
      values (p_tenant, v_row.idempotency_key, v_row.request_hash, v_row.job_id, millrace.now())
      on conflict do nothing;
      exit when found;
      select k.job_id into v_job from millrace.idempotency_key k
       where k.tenant_id = p_tenant and k.idempotency_key = v_row.idempotency_key and k.request_hash = v_row.request_hash;
      if found then
        v_existing[v_row.i] := v_job;
        exit;
      end if;
      if exists (select from millrace.idempotency_key k
                  where k.tenant_id = p_tenant and k.idempotency_key = v_row.idempotency_key) then
        raise exception 'idempotency_key % was used before with another request', quote_literal(v_row.idempotency_key)
          using errcode = 'MR011';
      end if;
    end loop;
  end loop;

  select array_agg(i order by i) into v_open from generate_subscripts(p_facts, 1) i
   where (p_facts[i]).dedupe_key is not null and v_existing[i] is null;
  while v_open is not null loop
    v_try := v_try + 1;
    if v_try > 10 then
      raise exception 'a dedupe key changed hands too often' using errcode = '40001';
    end if;
    with want as (
      select distinct on (f.type_id, f.dedupe_key) i, f.type_id, f.dedupe_key, f.job_id, (p_specs[i]).dedupe_keep as keep
        from unnest(v_open) i cross join lateral (select (p_facts[i]).*) f
       order by f.type_id, f.dedupe_key, i),
    expired as (
      delete from millrace.dedupe_key k using want w
       where k.tenant_id = p_tenant and k.type_id = w.type_id and k.dedupe_key = w.dedupe_key and k.keep_until <= millrace.now())
    select 1 into v_row;
    with want as (
      select distinct on (f.type_id, f.dedupe_key) i, f.type_id, f.dedupe_key, f.job_id, (p_specs[i]).dedupe_keep as keep
        from unnest(v_open) i cross join lateral (select (p_facts[i]).*) f
       order by f.type_id, f.dedupe_key, i),
    got as (
      insert into millrace.dedupe_key as k (tenant_id, type_id, dedupe_key, job_id, keep_until)
      select p_tenant, w.type_id, w.dedupe_key, w.job_id, millrace.now() + w.keep
        from want w order by w.type_id, w.dedupe_key
      on conflict do nothing
      returning k.job_id)
    select array_agg(i order by i) into v_open from unnest(v_open) i
     where not exists (select from got g where g.job_id = (p_facts[i]).job_id);
    for v_row in
      select i, k.job_id from unnest(v_open) i
        join millrace.dedupe_key k on k.tenant_id = p_tenant and k.type_id = (p_facts[i]).type_id
                                  and k.dedupe_key = (p_facts[i]).dedupe_key
       where k.keep_until is null or k.keep_until > millrace.now()
    loop
      v_existing[v_row.i] := v_row.job_id;
    end loop;
    select array_agg(i order by i) into v_open from unnest(v_open) i where v_existing[i] is null;
  end loop;

  -- An idempotency key taken for a fact that a dedupe key then made a duplicate answers with the job that exists.
  update millrace.idempotency_key k set job_id = v_existing[i]
    from generate_subscripts(p_facts, 1) i
   where v_existing[i] is not null and k.tenant_id = p_tenant and k.idempotency_key = (p_specs[i]).idempotency_key
     and k.job_id = (p_facts[i]).job_id and k.job_id <> v_existing[i];
  for v_row in
    select i, k.job_id from generate_subscripts(p_facts, 1) i
      join millrace.idempotency_key k on k.tenant_id = p_tenant and k.idempotency_key = (p_specs[i]).idempotency_key
     where p_existing[i] is null and k.job_id <> (p_facts[i]).job_id
  loop
    v_existing[v_row.i] := v_row.job_id;
  end loop;
  return v_existing;
end;
$$;
