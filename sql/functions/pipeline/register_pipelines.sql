-- millrace.register_pipelines: the pipelines of a worker that starts: from now on files may be sent into them. Their queues and job types are made where there are none; what is there
-- stays as an operator set it. p_pipelines: objects as in millrace.put_pipeline, with queues (name and policy, as in millrace.set_queue) and job_types (job_type, queue).
-- Answers the job types, {"job_type", "queue"}, of other versions that documents may wait for: of these pipelines those told of within a month, and of any pipeline those that a document
-- under way is bound to. The worker that calls takes these too, or nobody would finish what began before a file was changed, renamed or taken away. Orders are bound to no version.
create or replace function millrace.register_pipelines(p_pipelines jsonb) returns setof jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_item jsonb;
  v_row record;
begin
  if jsonb_typeof(p_pipelines) is distinct from 'array' or jsonb_array_length(p_pipelines) > 1000 then
    raise exception 'pipelines must be an array of 1000 at most' using errcode = 'MR024';
  end if;
  -- Many workers start at once: each in its turn, and the last one finds everything done.
  perform pg_advisory_xact_lock(hashtextextended('millrace.register_pipelines', 0));
  for v_item in select i from jsonb_array_elements(p_pipelines) i order by i ->> 'name' loop
    if coalesce(v_item ->> 'name', '') !~ '^[a-z][a-z0-9_-]{0,62}$' then
      raise exception 'the name of a pipeline must have 1 to 63 of a-z 0-9 _ - and begin with a letter' using errcode = 'MR024';
    end if;
    if coalesce(v_item ->> 'hash', '') !~ '^[0-9a-f]{64}$' or jsonb_typeof(v_item -> 'definition') is distinct from 'object'
       or coalesce(v_item #>> '{first_job,job_type}', '') = '' then
      raise exception 'pipeline % must have hash, definition and first_job', quote_literal(v_item ->> 'name') using errcode = 'MR024';
    end if;
    for v_row in
      select q ->> 'name' as name, coalesce(q -> 'policy', '{}') as policy from jsonb_array_elements(coalesce(v_item -> 'queues', '[]')) q
       where not exists (select from millrace.queue x where x.queue = q ->> 'name')
    loop
      perform millrace.set_queue(v_row.name, v_row.policy);
    end loop;
    for v_row in
      select t ->> 'queue' as queue, array_agg(t ->> 'job_type') as types from jsonb_array_elements(coalesce(v_item -> 'job_types', '[]')) t group by 1 order by 1
    loop
      perform millrace.ensure_job_types(v_row.types, v_row.queue);
    end loop;
    insert into millrace.pipeline as p (name, hash, registered_at) values (v_item ->> 'name', millrace.put_pipeline(v_item), millrace.now())
    on conflict (name) do update set hash = excluded.hash, registered_at = excluded.registered_at;
  end loop;
  return query
  select distinct jsonb_build_object('job_type', s ->> 'name', 'queue', s ->> 'queue')
    from millrace.pipeline_version v cross join lateral jsonb_array_elements(v.definition -> 'stage') s
   where v.definition ->> 'takes' is distinct from 'order'
     and (v.name in (select i ->> 'name' from jsonb_array_elements(p_pipelines) i) and v.seen_at > millrace.now() - interval '30 days'
          or v.hash in (select d.pipeline_hash from millrace.document d where d.state = 'processing')
             and (v.name in (select i ->> 'name' from jsonb_array_elements(p_pipelines) i)
                  -- Of a pipeline that this worker does not have: others may, and know what it needs.
                  or not exists (select from millrace.worker w where w.lease_until > millrace.now() and s ->> 'name' = any (w.job_types))))
     and s ->> 'name' is not null and s ->> 'queue' is not null;
end;
$$;
