-- millrace.dead_group_page: dead letters by the way they failed, of 10 000 dead letters at most, newest first, below p_before: {"groups": […], "next": …}.
-- The largest p_limit groups among those looked at, each with an example; the next page looks below "next", null at the end, and may have groups of the
-- same fingerprints again. Its cost is bounded whatever there is; millrace.dead_groups counts them all.
create or replace function millrace.dead_group_page(p_queue text default null, p_limit integer default 100, p_before uuid default null) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_looked constant integer := 10000;
  v_queue smallint := (select q.queue_id from millrace.queue q where q.queue = p_queue);
  v_before uuid := coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_ids uuid[];
  v_groups jsonb;
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception 'p_limit must be between 1 and 1000' using errcode = 'MR024';
  end if;
  if v_queue is null and p_queue is not null then
    return jsonb_build_object('groups', '[]'::jsonb, 'next', null);
  end if;
  v_ids := millrace.job_candidates('failed', null, null, millrace.tenant_scope(), null, null, v_before, v_looked);
  select coalesce(jsonb_agg(to_jsonb(g) order by g.jobs desc, g.queue, g.fingerprint), '[]') into v_groups
    from (select q.queue, h.fingerprint, count(*) as jobs, min(h.reason) as reason,
                 left(min(coalesce(h.error ->> 'message', h.error ->> 'error_type', h.reason)), 200) as message,
                 min(h.finished_at) as first_at, max(h.finished_at) as last_at, min(h.job_id::text)::uuid as example
            from unnest(v_ids) u(job_id)
            cross join lateral (select o.* from millrace.job_history o where o.job_id = u.job_id order by o.generation desc limit 1) h
            join millrace.queue q on q.queue_id = h.queue_id
           where h.status = 'failed' and h.redriven_at is null and (v_queue is null or h.queue_id = v_queue)
           group by q.queue, h.fingerprint order by count(*) desc, q.queue, h.fingerprint limit p_limit) g;
  return jsonb_build_object('groups', v_groups, 'next', case when cardinality(v_ids) = v_looked then v_ids[v_looked] end);
end;
$$;
