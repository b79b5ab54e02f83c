-- millrace.cancel_job: a waiting job is cancelled at once, a running one is asked to stop (its worker learns it at the next heartbeat
-- or progress report); true for both. A finished job: MR010. Unknown, another user's or another tenant's: MR009.
create or replace function millrace.cancel_job(p_job_id uuid, p_user_id uuid default null, p_reason text default null)
  returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_answer text := 'not_found';
begin
  if exists (select from millrace.job_fact f where f.job_id = p_job_id and (p_user_id is null or f.owner_id = p_user_id)) then
    v_answer := millrace.cancel_one(p_job_id, v_scope,
                                    left(coalesce(nullif(p_reason, ''), 'cancelled by ' || millrace.actor()), 500));
  end if;
  if v_answer = 'already_final' then
    raise exception 'job % has ended', p_job_id using errcode = 'MR010';
  elsif v_answer = 'not_found' then
    raise exception 'job % does not exist', p_job_id using errcode = 'MR009';
  end if;
  return true;
end;
$$;
