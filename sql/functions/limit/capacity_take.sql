-- millrace.capacity_take: charges grants to the current sub-buckets and gives each one a slot. The
-- caller holds the provider row and has asked millrace.capacity_room under the same lock. A null
-- job id makes an anonymous slot that ends at p_lease_until; a slot of a job ends with the lease
-- that has its token.
-- A grant is dated after the lock was got and never before the grant that went ahead of it.
create or replace function millrace.capacity_take(
    p_provider_id integer, p_job_ids uuid[], p_tokens uuid[], p_worker_id text,
    p_estimates bigint[], p_lease_until timestamptz)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
  v_at timestamptz;
  v_requests bigint := cardinality(p_job_ids);
  v_cost bigint;
  v_minute bigint;
  v_hour bigint;
begin
  if coalesce(v_requests, 0) = 0 then
    return;
  end if;
  if cardinality(p_tokens) is distinct from cardinality(p_job_ids)
     or cardinality(p_estimates) is distinct from cardinality(p_job_ids) then
    raise exception 'job ids, tokens and estimates must have the same length'
      using errcode = 'MR024';
  end if;
  select p.last_grant_at, p.minute_window, p.hour_window, p.slot_lease into v_row
    from millrace.api_rate_limits p where p.provider_id = p_provider_id;
  v_at := greatest(millrace.now(), v_row.last_grant_at);
  v_minute := millrace.bucket_at(v_at, v_row.minute_window);
  v_hour := millrace.bucket_at(v_at, v_row.hour_window);
  select sum(greatest(coalesce(e.tokens, 1), 1)) into v_cost from unnest(p_estimates) e(tokens);

  insert into millrace.provider_bucket as b (provider_id, time_window, bucket, requests, tokens)
  values (p_provider_id, 'minute', v_minute, v_requests, v_cost),
         (p_provider_id, 'hour', v_hour, v_requests, v_cost)
  on conflict on constraint provider_bucket_pkey
  do update set requests = b.requests + excluded.requests, tokens = b.tokens + excluded.tokens;
  insert into millrace.provider_slot (provider_id, job_id, token, worker_id, acquired_at,
                                      lease_until, estimated_tokens, minute_bucket, hour_bucket)
  select p_provider_id, g.job_id, g.token, p_worker_id, v_at,
         coalesce(p_lease_until, v_at + v_row.slot_lease),
         greatest(coalesce(g.estimate, 1), 1), v_minute, v_hour
    from unnest(p_job_ids, p_tokens, p_estimates) g(job_id, token, estimate);
  perform millrace.show_capacity(p_provider_id, v_at, true);
end;
$$;
