-- millrace.capacity_take: charges grants to the current sub-buckets and gives each one a slot. The
-- caller holds the provider row and has asked millrace.capacity_room under the same lock. A null
-- job id makes an anonymous slot that ends at p_lease_until; a slot of a job ends with the lease
-- that has its token.
create or replace function millrace.capacity_take(
    p_provider_id integer, p_job_ids uuid[], p_tokens uuid[], p_worker_id text,
    p_estimates bigint[], p_lease_until timestamptz)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_charge record;
begin
  if coalesce(cardinality(p_job_ids), 0) = 0 then
    return;
  end if;
  if cardinality(p_tokens) is distinct from cardinality(p_job_ids)
     or cardinality(p_estimates) is distinct from cardinality(p_job_ids) then
    raise exception 'job ids, tokens and estimates must have the same length'
      using errcode = 'MR024';
  end if;
  select c.* into v_charge from millrace.capacity_charge(p_provider_id, cardinality(p_job_ids),
    (select sum(greatest(coalesce(e.tokens, 1), 1)) from unnest(p_estimates) e(tokens))::bigint) c;
  insert into millrace.provider_slot (provider_id, job_id, token, worker_id, acquired_at,
                                      lease_until, estimated_tokens, minute_bucket, hour_bucket)
  select p_provider_id, g.job_id, g.token, p_worker_id, v_charge.at,
         coalesce(p_lease_until, v_charge.at + v_charge.slot_lease),
         greatest(coalesce(g.estimate, 1), 1), v_charge.minute_bucket, v_charge.hour_bucket
    from unnest(p_job_ids, p_tokens, p_estimates) g(job_id, token, estimate);
  perform millrace.show_capacity(p_provider_id, v_charge.at, true);
end;
$$;
