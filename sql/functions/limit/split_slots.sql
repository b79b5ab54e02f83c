-- millrace.split_slots: jobs that leave their claim take their part of its slot with them: a slot of their own each, which ends with
-- their lease or their settlement. The caller holds the claims. Nothing where the claims have no provider.
create or replace function millrace.split_slots(p_rows millrace.moving[]) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims uuid[] := array(select distinct millrace.claim_of(r.token) from unnest(p_rows) r);
begin
  if not exists (select from millrace.provider_slot s where s.claim_id = any (v_claims)) then
    return;
  end if;
  insert into millrace.provider_slot (provider_id, job_id, token, worker_id, acquired_at, lease_until, estimated_tokens, minute_bucket, hour_bucket)
  select s.provider_id, r.job_id, r.token, s.worker_id, s.acquired_at, s.lease_until, greatest(f.estimated_tokens, 1), s.minute_bucket, s.hour_bucket
    from unnest(p_rows) r
    join millrace.provider_slot s on s.claim_id = millrace.claim_of(r.token)
    join millrace.job_fact f on f.job_id = r.job_id;
  delete from millrace.provider_slot s
   where s.claim_id = any (v_claims) and s.jobs <= (select count(*) from unnest(p_rows) r where millrace.claim_of(r.token) = s.claim_id);
  update millrace.provider_slot s
     set jobs = s.jobs - g.jobs, estimated_tokens = greatest(1, s.estimated_tokens - g.tokens)
    from (select millrace.claim_of(r.token) as claim_id, count(*)::integer as jobs, sum(greatest(f.estimated_tokens, 1)) as tokens
            from unnest(p_rows) r join millrace.job_fact f on f.job_id = r.job_id group by 1) g
   where s.claim_id = g.claim_id;
end;
$$;
