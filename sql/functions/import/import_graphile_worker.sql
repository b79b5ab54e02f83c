-- millrace.import_graphile_worker: live jobs of graphile-worker 0.14 and newer (before 0.16 its tables have no _private_); otherwise as
-- millrace.import_guardian. A named queue becomes a serial key: its row is held as graphile-worker's own workers hold it, and while one of its jobs
-- runs there the others stay. Its priorities count the other way round.
create or replace function millrace.import_graphile_worker(p_schema text, p_map jsonb, p_limit integer, p_skip text[], p_skip_types text[])
  returns setof millrace.import_row language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_table text := millrace.import_table(p_schema, '{_private_jobs,jobs}',
                    '{id,job_queue_id,task_id,payload,priority,run_at,attempts,max_attempts,last_error,created_at,updated_at,key,locked_at,revision,flags}');
  v_tasks text := millrace.import_table(p_schema, array[replace(v_table, 'jobs', 'tasks')], '{id,identifier}');
  v_queues text := millrace.import_table(p_schema, array[replace(v_table, 'jobs', 'job_queues')], '{id,queue_name,locked_at}');
begin
  return query execute format($sql$
    with picked as materialized (
      select t.id, t.job_queue_id, t.task_id, t.payload::text as payload_text, t.priority, t.run_at, t.attempts, t.max_attempts, t.last_error, t.created_at,
             t.updated_at, t.key, t.revision, t.flags, k.identifier, q.queue_name,
             case when t.locked_at is not null then 'running'
                  when q.locked_at is not null then 'its queue is busy'
                  when t.job_queue_id is not null and q.id is null then 'its queue has no row' end as reason
        from %1$I.%2$I t join %1$I.%3$I k on k.id = t.task_id left join %1$I.%4$I q on q.id = t.job_queue_id
       where ($2 is null or not t.id::text = any ($2)) and ($3 is null or not k.identifier = any ($3)) and %5$s
       order by t.run_at > millrace.now(), t.priority, t.run_at, t.id %6$s)
    select p.identifier, p.id::text, p.created_at, null::uuid, p.attempts::integer, p.max_attempts::integer,
           coalesce(p.reason, case when d.payload is null then 'payload that jsonb cannot hold'
                                   when not millrace.import_fits(d.payload) then 'payload too large (MR004)' end),
           jsonb_build_object('payload', case when millrace.import_fits(d.payload) then millrace.import_payload(d.payload) end,
             'priority', millrace.import_rank($5, - p.priority), 'scheduled_at', p.run_at, 'dedupe_key', p.key, 'serial_key', p.queue_name,
             'correlation_id', coalesce(left(d.payload ->> 'correlation_id', 200), 'graphile-worker:' || p.id)),
           case when millrace.import_fits(d.payload) then jsonb_build_object('id', p.id, 'job_queue_id', p.job_queue_id, 'task_id', p.task_id,
             'payload', d.payload, 'priority', p.priority, 'run_at', p.run_at, 'attempts', p.attempts, 'max_attempts', p.max_attempts,
             'last_error', p.last_error, 'created_at', p.created_at, 'updated_at', p.updated_at, 'key', p.key, 'revision', p.revision, 'flags', p.flags) end
      from picked p cross join lateral (select millrace.import_json(p.payload_text) as payload offset 0) d $sql$,
    p_schema, v_table, v_tasks, v_queues,
    -- A job without attempts left has failed for good, unless its last one is under way.
    case when p_limit is null then '(t.attempts < t.max_attempts or t.locked_at is not null)'
         else format('t.attempts < t.max_attempts and t.locked_at is null and (t.job_queue_id is null or t.job_queue_id in (
                        select b.id from %I.%I b where b.locked_at is null for update skip locked))', p_schema, v_queues) end,
    case when p_limit is not null then 'limit $1 for update of t skip locked' else '' end)
    using p_limit, p_skip, p_skip_types, p_map ->> 'rows', (p_map ->> 'priority')::integer;
end;
$$;
