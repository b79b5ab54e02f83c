-- millrace.job_status_lines: millrace.job_status of many jobs at once, for requests that came together: a line for each that the caller may see, in no
-- order: its id, a tab, and byte for byte the JSON that job_status answers. Null when there is none. A line has no other line break or tab: JSON escapes them.
-- What its lane alone knows of a job, which is true of most, is looked up for all of them in one statement, and what jobs of one kind share once for
-- all; the others are told one by one. A job that its lane has not reached waits (millrace.lane_waiting); only otherwise is its claim looked for.
-- To start the plan is a good part of the cost of a call, so it has few tables, and of these only the partitions between the first id and the last, and
-- of claims those since. What is not found there (the clock was set back) is told by millrace.job_brief_of, which looks everywhere.
create or replace function millrace.job_status_lines(p_job_ids uuid[]) returns text
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_person boolean := millrace.caller() = 'authenticated';
  v_user uuid := case when v_person then millrace.current_user_id() end;
  v_ids uuid[] := array(select u.id from unnest(p_job_ids) u(id) where u.id is not null order by u.id);
  v_first uuid := v_ids[1];
  v_last uuid := v_ids[cardinality(v_ids)];
  v_now timestamptz := millrace.now();
  -- Claims are later than their jobs. An id that somebody else made may tell any time.
  v_since timestamptz := case when millrace.id_time(v_first) <= v_now then millrace.id_time(v_first) else '-infinity' end;
begin
  return (
    with f as materialized (
      select j.job_id, j.tenant_id, j.queue_id, j.type_id, coalesce(j.lane_id, 0) as lane_id, j.lane_xid, j.seq, j.job_name, j.stage, j.priority,
             j.max_attempts, j.created_at, j.scheduled_at, j.batch_id, j.parent_id, j.owner_id, j.correlation_id
        from millrace.job_fact j
       where j.job_id = any (v_ids) and j.job_id between v_first and v_last
         and case when v_person then j.tenant_id = v_scope and j.owner_id = v_user else v_scope is null or j.tenant_id = v_scope end),
    -- Every look is fenced (offset 0): it is made by key, once for each row before it, whatever the tables hold.
    k as materialized (
      select d.lane_id, d.queue_id, d.type_id, concat('","queue":"', q.queue, '","job_type":"', t.job_type, '","job_name":') as names,
             coalesce(t.max_attempts, q.max_attempts) as max_attempts, h.lane_xid, h.lane_seq, h.late_xids, h.late_seqs
        from (select distinct f.lane_id, f.queue_id, f.type_id from f) d
        cross join lateral (select q.queue, q.max_attempts from millrace.queue q where q.queue_id = d.queue_id offset 0) q
        cross join lateral (select t.job_type, t.max_attempts from millrace.job_type t where t.type_id = d.type_id offset 0) t
        left join lateral (select h.lane_xid, h.lane_seq, h.late_xids, h.late_seqs from millrace.lane_head h
                            where h.lane_id = d.lane_id order by h.claim_no desc limit 1) h on true)
    select string_agg(
             case when x.status is null then concat(x.job_id, E'\t', row_to_json(millrace.job_brief_of(x.job_id)))
                  -- Names of queues and types need no escapes.
                  else concat(x.job_id, E'\t{"job_id":"', x.job_id, '","tenant_id":"', x.tenant_id, x.names, coalesce(to_json(x.job_name), 'null'),
                         ',"status":"', x.status, '","stage":', coalesce(to_json(x.stage), 'null'), ',"reason":null,"priority":', x.priority,
                         ',"attempt":', x.attempt, ',"max_attempts":', x.max_attempts, ',"delivery_count":', x.attempt,
                         ',"generation":1,"progress":', case x.status when 'completed' then 100 else 0 end,
                         ',"progress_message":null,"progress_data":null,"cancel_requested_at":null,"worker_id":', coalesce(to_json(x.worker_id), 'null'),
                         ',"created_at":', x.created, ',"scheduled_at":', case when x.scheduled_at = x.created_at then x.created else to_json(x.scheduled_at) end,
                         ',"started_at":', coalesce(to_json(x.claimed_at), 'null'), ',"finished_at":', coalesce(to_json(x.finished_at), 'null'),
                         ',"batch_id":', coalesce(to_json(x.batch_id), 'null'), ',"parent_id":', coalesce(to_json(x.parent_id), 'null'),
                         ',"owner_id":', coalesce(to_json(x.owner_id), 'null'), ',"correlation_id":', coalesce(to_json(x.correlation_id), 'null'),
                         ',"result":null,"error":null}') end, E'\n')
      from (
        select s.job_id, s.tenant_id, s.names, s.job_name, s.stage, s.priority, s.max_attempts, s.created_at, to_json(s.created_at) as created, s.scheduled_at,
               s.batch_id, s.parent_id, s.owner_id, s.correlation_id, c.worker_id, c.claimed_at, c.finished_at,
               case when s.waiting then 0 else 1 end as attempt,
               case when s.waiting then 'pending' when c.finished_at is not null then 'completed'
                    when (select true from millrace.claim_open o where o.claim_id = c.claim_id and get_bit(o.held, c.position) = 1) then 'processing' end as status
          from (
            select f.job_id, f.tenant_id, f.lane_id, f.seq, k.names, f.job_name, f.stage, f.priority, coalesce(f.max_attempts, k.max_attempts) as max_attempts,
                   f.created_at, f.scheduled_at, f.batch_id, f.parent_id, f.owner_id, f.correlation_id,
                   case when (f.lane_xid, f.seq) > (k.lane_xid, k.lane_seq) or f.seq > k.late_seqs[array_position(k.late_xids, f.lane_xid)]
                        then (select true from millrace.lane_gap g where g.lane_id = f.lane_id and g.lane_xid = f.lane_xid and g.seq = f.seq limit 1) is null
                        else false end as waiting
              from f join k on k.lane_id = f.lane_id and k.type_id = f.type_id and k.queue_id = f.queue_id
            offset 0) s
          left join lateral (
            select c.claim_id, c.worker_id, c.claimed_at, c.position,
                   (select d.at from millrace.claim_done d
                     where d.claim_id = c.claim_id and d.at between v_since and v_now and d.at >= c.claimed_at and get_bit(d.done, c.position) = 1 limit 1) as finished_at
              -- The position is looked for once: the list of a large claim lies outside its row.
              from (select c.claim_id, c.worker_id, c.claimed_at, array_position(c.job_ids, s.job_id) - 1 as position
                      from millrace.claim c
                     where not s.waiting and s.lane_id <> 0 and c.claimed_at between v_since and v_now and c.claimed_at >= s.created_at
                       and c.span @> box(point(s.lane_id, s.seq), point(s.lane_id, s.seq))
                    offset 0) c
             where c.position is not null limit 1) c on true
        offset 0) x);
end;
$$;
