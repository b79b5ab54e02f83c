-- millrace.provider_waiting: waiting jobs (ready and delayed) of the types bound to a provider,
-- counted up to p_max. Every scan stops there, so the cost is bounded by p_max and not by the
-- backlog.
create or replace function millrace.provider_waiting(p_provider_id integer, p_max bigint)
  returns bigint
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_types smallint[];
  v_ready bigint;
  v_delayed bigint;
  v_lanes bigint;
begin
  select array_agg(t.type_id) into v_types
    from millrace.job_type t
    join millrace.api_rate_limits p
      on p.provider_name = t.provider_name and p.api_endpoint = t.api_endpoint
   where p.provider_id = p_provider_id;
  if v_types is null then
    return 0;
  end if;
  select count(*) into v_ready
    from (select from unnest(v_types) t(type_id)
           cross join millrace.queue q
           cross join lateral (select from millrace.ready r
                                where r.queue_id = q.queue_id and r.type_id = t.type_id
                                limit p_max) x
           limit p_max) c;
  if v_ready >= p_max then
    return v_ready;
  end if;
  select count(*) into v_delayed
    from (select from millrace.delayed d where d.type_id = any (v_types) limit p_max - v_ready) c;
  if v_ready + v_delayed >= p_max then
    return v_ready + v_delayed;
  end if;
  -- What late writers added below a head is not worth a look: this is a bound.
  select count(*) into v_lanes
    from (select from unnest(v_types) t(type_id)
           cross join lateral (select l.lane_id from millrace.lane l where l.type_id = t.type_id) l
           cross join lateral (select h.lane_xid, h.lane_seq from millrace.lane_head h
                                where h.lane_id = l.lane_id order by h.claim_no desc limit 1) h
           cross join lateral (select from millrace.job_fact f
                                where f.lane_id = l.lane_id and (f.lane_xid, f.seq) > (h.lane_xid, h.lane_seq)
                                limit p_max) x
           limit p_max - v_ready - v_delayed) c;
  return v_ready + v_delayed + v_lanes;
end;
$$;
