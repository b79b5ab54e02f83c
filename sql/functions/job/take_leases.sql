-- millrace.take_leases: the fence. Deletes the leases that these deliveries hold, or clears their bits under a claim, and returns them
-- with their outcomes. Claims are locked
-- before leases, both in the order of their ids. A delivery that is named twice is taken once, with the outcome named first.
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
    v_claimed := array(
      select row(c.job_id, c.tenant_id, c.queue_id, c.type_id, c.priority, c.flags, c.generation, c.attempt, c.delivery_count, i.crash_count, c.suspect_count,
                 c.snooze_count, c.born_at, null, c.token, c.worker_id, c.started_at, null, c.ready_seq, 0, null, null,
                 i.outcome, i.charged, i.result, i.error, i.carry, i.actual_tokens, i.until_at, null, i.final_reason, null, null)::millrace.moving
        from unnest(v_claimed) c
        join (select distinct on (u.token) u.* from unnest(p_items) with ordinality u order by u.token, u.ordinality) i on i.token = c.token
       order by c.job_id);
  end if;
  with held as materialized (
    select l.job_id from millrace.lease l
     where l.job_id = any (array(select i.job_id from unnest(p_items) i)) and l.worker_id = p_worker_id
       and exists (select from unnest(p_items) i where i.job_id = l.job_id and i.token = l.token)
     order by l.job_id for update),
  d as (
    delete from millrace.lease l where l.job_id = any (array(select h.job_id from held h)) returning l.*)
  select array_agg(row(d.job_id, d.tenant_id, d.queue_id, d.type_id, d.priority, d.flags, d.generation, d.attempt, d.delivery_count,
           d.crash_count + i.crash_count, d.suspect_count, d.snooze_count, d.born_at, null, d.token, d.worker_id, d.leased_at, d.lease_key,
           d.ready_seq, d.progress, d.progress_data,
           case when d.cancel_requested_at is not null then coalesce(d.cancel_reason, 'cancelled') end,
           i.outcome, i.charged, i.result, i.error, i.carry, i.actual_tokens, i.until_at, null, i.final_reason, null, null)::millrace.moving
           order by d.job_id)
    into v_taken
    from d join (select distinct on (u.job_id, u.token) u.* from unnest(p_items) with ordinality u
                  order by u.job_id, u.token, u.ordinality) i on i.job_id = d.job_id and i.token = d.token;
  return coalesce(v_taken, '{}') || coalesce(v_claimed, '{}');
end;
$$;
