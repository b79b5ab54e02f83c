-- millrace.take_leases: the fence. Deletes the leases that these deliveries hold, or clears their bits under a claim, and returns them
-- with their outcomes. Claims are locked before leases, both in the order of their ids. A delivery that is named twice is taken once, with
-- the outcome named first.
create or replace function millrace.take_leases(p_worker_id text, p_items millrace.moving[]) returns millrace.moving[]
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_taken millrace.moving[];
  v_claimed millrace.moving[];
begin
  if coalesce(cardinality(p_items), 0) = 0 then
    return '{}';
  end if;
  if exists (select from unnest(p_items) i where millrace.claim_of(i.token) is not null) then
    v_claimed := millrace.take_claimed(p_worker_id, array(select i.job_id from unnest(p_items) i), array(select i.token from unnest(p_items) i));
  end if;
  with held as materialized (
    select h.job_id from (select i.job_id, i.token from unnest(p_items) i order by i.job_id) i
      cross join lateral (
        select l.job_id from millrace.lease l where l.job_id = i.job_id and l.token = i.token and l.worker_id = p_worker_id for update) h),
  d as (
    delete from millrace.lease l where l.job_id = any (array(select h.job_id from held h)) returning l.*)
  select array_agg(millrace.moving_of(row(d.*)::millrace.lease)) into v_taken from d;
  return millrace.merge_outcomes(coalesce(v_taken, '{}') || coalesce(v_claimed, '{}'), p_items);
end;
$$;
