-- millrace.take_claimed: the fence of jobs held under claims. Clears the bits of these deliveries and returns the jobs, each once, with
-- nothing said yet about their outcome. p_worker_id null: whoever holds them. Claims are locked in the order of their ids.
create or replace function millrace.take_claimed(p_worker_id text, p_job_ids uuid[], p_tokens uuid[]) returns millrace.moving[]
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_open millrace.claim_open[];
  v_taken millrace.moving[];
begin
  v_open := array(
    select row(o.*)::millrace.claim_open from millrace.claim_open o
     where o.claim_id = any (array(select millrace.claim_of(t) from unnest(p_tokens) t)) and (p_worker_id is null or o.worker_id = p_worker_id)
     order by o.claim_id for update);
  if cardinality(v_open) = 0 then
    return '{}';
  end if;
  with held as materialized (
    select distinct on (u.token) u.job_id, u.token, o.claim_id, o.worker_id, o.claimed_at, o.held, p.position
      from unnest(p_job_ids, p_tokens) u(job_id, token)
      join unnest(v_open) o on o.claim_id = millrace.claim_of(u.token)
      join millrace.claim c on c.claim_id = o.claim_id and c.claimed_at = o.claimed_at
      cross join lateral (select millrace.position_of(u.token) as position) p
     where p.position < length(o.held) and get_bit(o.held, p.position) = 1 and c.job_ids[p.position + 1] = u.job_id),
  rest as materialized (
    select h.claim_id, h.held & ~ bit_or(set_bit(h.held # h.held, h.position, 1)) as held from held h group by h.claim_id, h.held),
  kept as (
    update millrace.claim_open o set held = (select r.held from rest r where r.claim_id = o.claim_id)
     where o.claim_id = any (array(select r.claim_id from rest r where bit_count(r.held) > 0))),
  ended as (
    delete from millrace.claim_open o where o.claim_id = any (array(select r.claim_id from rest r where bit_count(r.held) = 0)))
  select array_agg(millrace.moving_of_fact(row(f.*)::millrace.job_fact, h.token, h.worker_id, h.claimed_at) order by h.claim_id, h.position)
    into v_taken from held h join millrace.job_fact f on f.job_id = h.job_id;
  perform millrace.split_slots(v_taken);
  return coalesce(v_taken, '{}');
end;
$$;
