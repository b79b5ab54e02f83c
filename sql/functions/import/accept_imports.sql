-- millrace.accept_imports: enqueues live jobs that the caller holds in their source, makes the types they need, and writes down which is which, all in the
-- caller's transaction; one that is left alone is answered with its reason. Jobs keep their id where it is one, is free, and does not read as
-- a time to come (partitions are cut by it). A key that a live job has already is not given again: the job comes without it. They
-- are let in whatever the depth of the queue: they were accepted before, only elsewhere.
create or replace function millrace.accept_imports(p_source text, p_schema text, p_rows millrace.import_row[], p_map jsonb)
  returns setof millrace.import_answer language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_all millrace.import_verdict[];
  v_part record;
  v_ids uuid[];
begin
  v_all := array(select row(j.*)::millrace.import_verdict from millrace.judge_imports(p_source, p_schema, p_rows, p_map) j order by j.ord);
  insert into millrace.job_type (job_type, queue_id, priority_default)
  select distinct on (v.job_type) v.job_type, q.queue_id,
         case when p_source in ('pg-boss', 'graphile-worker') then millrace.import_rank((p_map ->> 'priority')::integer, 0) end
    from unnest(v_all) v join millrace.queue q on q.queue = v.queue
   where v.reason is null and v.is_new and not exists (select from millrace.job_type t where t.job_type = v.job_type)
   order by v.job_type
  on conflict (job_type) do nothing;

  for v_part in
    with free as (
      select v.ord, v.tenant_id, v.job_type, v.job, millrace.uuid_or_null(v.job ->> 'id') as id, v.job ->> 'dedupe_key' as dedupe_key
        from unnest(v_all) v where v.reason is null),
    ready as (
      select f.ord, f.tenant_id,
             f.job || jsonb_build_object(
               'id', case when f.id is null or f.id between millrace.id_at(v_now) and millrace.id_at(v_now + interval '90 days')
                            or row_number() over (partition by f.id order by f.ord) > 1
                            or exists (select from millrace.job_fact o where o.job_id = f.id) then millrace.new_id() else f.id end,
               'dedupe_key', case when row_number() over (partition by f.tenant_id, f.job_type, f.dedupe_key order by f.ord) = 1
                            and not exists (select from millrace.dedupe_key k join millrace.job_type t on t.type_id = k.type_id
                                             where k.tenant_id = f.tenant_id and t.job_type = f.job_type and k.dedupe_key = f.dedupe_key
                                               and (k.keep_until is null or k.keep_until > v_now)) then f.dedupe_key end) as job,
             (row_number() over (partition by f.tenant_id order by f.ord) - 1) / 100 as part
        from free f)
    select r.tenant_id, array_agg(r.ord order by r.ord) as ords, jsonb_agg(r.job order by r.ord) as jobs
      from ready r group by r.tenant_id, r.part order by r.tenant_id, r.part
  loop
    v_ids := array(select e.job_id from millrace.enqueue_specs(millrace.specs_from_json(v_part.jobs), v_part.tenant_id, true) e
                    where e.answer = 'created' order by e.ord);
    if cardinality(v_ids) <> cardinality(v_part.ords) then
      raise exception 'an id or a key was taken meanwhile' using errcode = '40001', hint = 'repeat the transaction';
    end if;
    insert into millrace.imported_job (source, source_schema, source_type, source_id, source_created_at, tenant_id, job_id, deleted, source_row, imported_at)
    select p_source, p_schema, r.source_type, r.source_id, r.source_created_at, v_part.tenant_id, a.job_id,
           p_source = 'graphile-worker' or coalesce(p_map ->> 'rows' = 'delete', false), coalesce(r.kept, '{}'), v_now
      from unnest(v_part.ords, v_ids) a(ord, job_id) cross join lateral (select (p_rows[a.ord]).*) r;
    insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, job_ids, new_values, reason)
    values (v_now, v_part.tenant_id, millrace.actor(), 'imported_job', case when cardinality(v_ids) = 1 then v_ids[1]::text end, 'INSERT', 'imported', v_ids,
            jsonb_build_object('source', p_source, 'schema', p_schema, 'jobs', cardinality(v_ids)), 'Jobs moved over from another queue');
    return query
    select r.source_type, r.source_id, r.source_created_at, (v_all[a.ord]).job_type, a.job_id, null::text
      from unnest(v_part.ords, v_ids) a(ord, job_id) cross join lateral (select (p_rows[a.ord]).*) r order by a.ord;
  end loop;
  return query
  select v.source_type, (p_rows[v.ord]).source_id, (p_rows[v.ord]).source_created_at, v.job_type, null::uuid, v.reason
    from unnest(v_all) v where v.reason is not null order by v.ord;
end;
$$;
