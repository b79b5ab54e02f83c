-- millrace.release_api_capacity: gives back the oldest live anonymous slot with this estimate (else
-- the oldest one) and settles its tokens to the actual figure; without one the charge stays. Works
-- whatever the status of the provider is (L-10). A release without a slot changes nothing: the
-- floor is 0.
create or replace function millrace.release_api_capacity(
    p_provider_name text, p_api_endpoint text, p_estimated_tokens integer default 1000,
    p_actual_tokens integer default null)
  returns void language plpgsql security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
declare
  v_row record;
  v_slot record;
  v_at timestamptz;
  v_cost bigint := greatest(coalesce(p_estimated_tokens, 1000), 1);
begin
  select p.provider_id, p.last_grant_at, p.breaker_state, p.breaker_until into v_row
    from millrace.api_rate_limits p
   where p.provider_name = p_provider_name and p.api_endpoint = p_api_endpoint
     for no key update;
  if not found then
    raise warning 'No active rate limit config found for release: %:%',
      p_provider_name, p_api_endpoint;
    return;
  end if;
  v_at := greatest(millrace.now(), v_row.last_grant_at);
  delete from millrace.provider_slot s
   where s.slot_id = (select c.slot_id
                        from millrace.provider_slot c
                       where c.provider_id = v_row.provider_id and c.job_id is null and c.claim_id is null
                         and c.lease_until > v_at
                       order by c.estimated_tokens = v_cost desc, c.acquired_at, c.slot_id
                       limit 1)
  returning s.estimated_tokens, s.minute_bucket, s.hour_bucket, s.acquired_at into v_slot;
  if found then
    perform millrace.settle_tokens(v_row.provider_id, v_slot.minute_bucket, v_slot.hour_bucket,
                                   v_slot.estimated_tokens, p_actual_tokens);
    -- Tokens were used, so the provider has answered the probe.
    if v_row.breaker_state = 'half_open' and v_slot.acquired_at >= v_row.breaker_until
       and p_actual_tokens > 0 then
      perform millrace.set_breaker(v_row.provider_id, 'closed', null, 0, 0, null);
    end if;
  end if;
  perform millrace.sweep_slots(v_row.provider_id, v_at);
  perform millrace.show_capacity(v_row.provider_id, v_at, false);
end;
$$;
