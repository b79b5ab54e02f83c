-- millrace.claim_marked_groups: the groups a worker knows already, each with the place in line it has seen everything before.
-- Starting behind that mark steps over entries that finished jobs left dead in the index while an old snapshot is open.
-- p_marks is {"<type_id>:<tenant_id>:<priority>": ready_seq}.
create or replace function millrace.claim_marked_groups(p_marks jsonb, p_queue_ids smallint[], p_type_ids smallint[])
  returns table (queue_id smallint, type_id smallint, tenant_id uuid, priority smallint, mark bigint, ready_at timestamptz)
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select q.queue_id, m.type_id, m.tenant_id, m.priority, m.mark, n.ready_at
    from (select split_part(e.key, ':', 1)::smallint as type_id, split_part(e.key, ':', 2)::uuid as tenant_id,
                 split_part(e.key, ':', 3)::smallint as priority, e.value::bigint as mark
            from jsonb_each_text(p_marks) e where e.key not like 'lane:%' limit 256) m
    cross join unnest(p_queue_ids) u(queue_id)
    join millrace.queue q on q.queue_id = u.queue_id and q.paused_at is null
    cross join lateral (
      select r.ready_at from millrace.ready r
       where r.queue_id = q.queue_id and r.type_id = m.type_id and r.tenant_id = m.tenant_id and r.priority = m.priority
         and r.ready_seq > m.mark
       order by r.ready_seq limit 1) n
   where p_type_ids is null or m.type_id = any (p_type_ids);
end;
$$;
