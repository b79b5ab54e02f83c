-- millrace.capacity_take_claim: charges the jobs of a claim and gives them one slot, which ends with the claim. As millrace.capacity_take.
create or replace function millrace.capacity_take_claim(
    p_provider_id integer, p_claim_id uuid, p_jobs integer, p_cost bigint, p_worker_id text, p_lease_until timestamptz)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_charge record;
begin
  select c.* into v_charge from millrace.capacity_charge(p_provider_id, p_jobs, p_cost) c;
  insert into millrace.provider_slot (provider_id, claim_id, jobs, worker_id, acquired_at, lease_until, estimated_tokens, minute_bucket, hour_bucket)
  values (p_provider_id, p_claim_id, p_jobs, p_worker_id, v_charge.at, p_lease_until, p_cost, v_charge.minute_bucket, v_charge.hour_bucket);
  perform millrace.show_capacity(p_provider_id, v_charge.at, true);
end;
$$;
