-- millrace.import_export: live jobs of the Export dossier's export_jobs; otherwise as millrace.import_guardian. The user is the concurrency key,
-- as in millrace.create_export_job.
create or replace function millrace.import_export(p_schema text, p_map jsonb, p_limit integer, p_skip text[], p_skip_types text[])
  returns setof millrace.import_row language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_table text := millrace.import_table(p_schema, '{export_jobs}',
                    '{id,user_id,document_id,format,options,status,attempts,max_attempts,run_after,error_message,completed_at,created_at}');
begin
  return query execute format($sql$
    with picked as materialized (
      select to_jsonb(t) as r from %1$I.%2$I t
       where t.status::text in ('pending'%3$s)
         and ($2 is null or not t.id::text = any ($2)) and ($3 is null or not 'export_jobs' = any ($3))
       order by coalesce(t.run_after > millrace.now(), false), t.created_at, t.id %4$s)
    select 'export_jobs', p.r ->> 'id', coalesce((p.r ->> 'created_at')::timestamptz, '-infinity'), (p.r ->> 'user_id')::uuid,
           (p.r ->> 'attempts')::integer, (p.r ->> 'max_attempts')::integer,
           case when p.r ->> 'status' = 'processing' then 'running'
                when not millrace.import_fits(d.payload) then 'payload too large (MR004)' end,
           jsonb_build_object('id', millrace.uuid_or_null(p.r ->> 'id'),
             'payload', case when millrace.import_fits(d.payload) then d.payload end, 'job_name', 'export ' || (p.r ->> 'document_id'),
             'owner_id', p.r ->> 'user_id', 'concurrency_key', p.r ->> 'user_id', 'scheduled_at', p.r ->> 'run_after',
             'priority', case when p.r ->> 'priority' is not null then millrace.import_rank(0, (p.r ->> 'priority')::integer) end),
           case when $4 = 'delete' then p.r else p.r - '{options}'::text[] end
      from picked p
      cross join lateral (select jsonb_build_object('document_id', p.r ->> 'document_id', 'user_id', p.r ->> 'user_id',
                            'format', coalesce(p.r ->> 'format', 'pdf'), 'options', coalesce(nullif(p.r -> 'options', 'null'), '{}')) as payload offset 0) d $sql$,
    p_schema, v_table, case when p_limit is null then $list$, 'processing'$list$ else '' end,
    case when p_limit is not null then 'limit $1 for update of t skip locked' else '' end)
    using p_limit, p_skip, p_skip_types, p_map ->> 'rows';
end;
$$;
