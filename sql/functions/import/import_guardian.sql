-- millrace.import_guardian: live jobs of the Guardian plan's job_queue (v4, and v2 with payload and error for job_payload and error_details). With
-- p_limit those that may be moved, in the order of the source, and locked; a row that somebody holds is passed over. Without: all, to
-- be counted. Runs with the rights of the caller.
create or replace function millrace.import_guardian(p_schema text, p_map jsonb, p_limit integer, p_skip text[], p_skip_types text[])
  returns setof millrace.import_row language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_table text := millrace.import_table(p_schema, '{job_queue}',
                    '{id,job_type,status,priority,scheduled_at,completed_at,retry_count,max_retries,created_at}');
begin
  return query execute format($sql$
    with picked as materialized (
      select to_jsonb(t) as r from %1$I.%2$I t
       where t.status::text in ('pending', 'retrying'%3$s)
         and ($2 is null or not t.id::text = any ($2)) and ($3 is null or not t.job_type = any ($3))
       order by coalesce(t.scheduled_at > millrace.now(), false), coalesce(t.priority, 5) desc, t.created_at, t.id %4$s)
    select p.r ->> 'job_type', p.r ->> 'id', coalesce((p.r ->> 'created_at')::timestamptz, '-infinity'), null::uuid,
           (p.r ->> 'retry_count')::integer, (p.r ->> 'max_retries')::integer + 1,
           case when p.r ->> 'status' in ('processing', 'running') then 'running'
                when p.r ->> 'status' = 'deferred' then 'deferred in the source'
                when not millrace.import_fits(d.payload) then 'payload too large (MR004)' end,
           jsonb_build_object('id', millrace.uuid_or_null(p.r ->> 'id'),
             'payload', case when millrace.import_fits(d.payload) then d.payload end, 'job_name', left(p.r ->> 'job_name', 200),
             'job_category', p.r ->> 'job_category', 'priority', millrace.import_rank(0, coalesce((p.r ->> 'priority')::integer, 5)),
             'scheduled_at', p.r ->> 'scheduled_at', 'correlation_id', left(d.payload ->> 'correlation_id', 200)),
           case when $4 = 'delete' then p.r else p.r - '{job_payload,payload,job_result}'::text[] end
      from picked p
      cross join lateral (select coalesce(nullif(p.r -> 'job_payload', 'null'), p.r -> 'payload') as payload offset 0) d $sql$,
    p_schema, v_table, case when p_limit is null then $list$, 'processing', 'running', 'deferred'$list$ else '' end,
    case when p_limit is not null then 'limit $1 for update of t skip locked' else '' end)
    using p_limit, p_skip, p_skip_types, p_map ->> 'rows';
end;
$$;
