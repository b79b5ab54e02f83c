-- millrace.take_claimed: the fence of jobs held under claims. Clears the bits of these deliveries and returns the jobs, each once, with
-- nothing said yet about their outcome. p_worker_id null: whoever holds them. Claims are locked in the order of their ids.
create or replace function millrace.take_claimed(p_worker_id text, p_job_ids uuid[], p_tokens uuid[]) returns millrace.moving[]
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_open millrace.claim_open;
  v_opens millrace.claim_open[];
  v_ids uuid[];
  v_rest bit varying;
  v_some millrace.moving[];
  v_taken millrace.moving[] := '{}';
begin
  v_opens := array(
    select row(o.*)::millrace.claim_open from millrace.claim_open o
     where o.claim_id = any (array(select distinct millrace.claim_of(t) from unnest(p_tokens) t)) and (p_worker_id is null or o.worker_id = p_worker_id)
     order by o.claim_id for update);
  foreach v_open in array v_opens loop
    -- As a value of its own: unpacked once, not for each job.
    select c.job_ids || '{}'::uuid[] into v_ids from millrace.claim c where c.claim_id = v_open.claim_id and c.claimed_at = v_open.claimed_at;
    with held as materialized (
      select distinct on (p.position) u.job_id, u.token, p.position
        from unnest(p_job_ids, p_tokens) u(job_id, token)
        cross join lateral (select millrace.position_of(u.token) as position) p
       where millrace.claim_of(u.token) = v_open.claim_id and p.position < length(v_open.held)
         and get_bit(v_open.held, p.position) = 1 and v_ids[p.position + 1] = u.job_id)
    select array_agg(millrace.moving_of_fact(row(f.*)::millrace.job_fact, h.token, v_open.worker_id, v_open.claimed_at) order by h.position),
           v_open.held & ~ bit_or(set_bit(v_open.held # v_open.held, h.position, 1))
      into v_some, v_rest
      from held h join millrace.job_fact f on f.job_id = h.job_id;
    continue when v_some is null;
    if bit_count(v_rest) > 0 then
      update millrace.claim_open o set held = v_rest where o.claim_id = v_open.claim_id;
    else
      delete from millrace.claim_open o where o.claim_id = v_open.claim_id;
    end if;
    v_taken := v_taken || v_some;
  end loop;
  if cardinality(v_taken) > 0 then
    perform millrace.split_slots(v_taken);
  end if;
  return v_taken;
end;
$$;
