-- millrace.hand_back_leases: gives back all that a process holds. Free of charge.
create or replace function millrace.hand_back_leases(p_worker_id text, p_process uuid) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows millrace.moving[];
  v_claimed millrace.moving[];
begin
  v_claimed := millrace.end_claims(array(
    select o.claim_id from millrace.claim_open o where o.process = p_process and o.worker_id = p_worker_id order by o.claim_id for update));
  with held as materialized (
    select l.job_id from millrace.lease l
     where l.process = p_process and l.worker_id = p_worker_id order by l.job_id for update),
  d as (delete from millrace.lease l using held h where l.job_id = h.job_id returning l.*)
  select array_agg(millrace.moving_of(row(d.*)::millrace.lease)) || v_claimed into v_rows from d;
  v_rows := array(select millrace.with_outcome(r, 'handback', null, null) from unnest(v_rows) r);
  perform millrace.settle_core(v_rows, p_worker_id);
  return cardinality(v_rows);
end;
$$;
