-- millrace.judge_imports: what would become of live jobs of a source: type, queue and tenant, the job in the form that is enqueued, and why one is
-- left alone. Changes nothing; millrace.accept_imports follows it to the letter.
-- p_map: types (a name, or {"type", "queue", "skip"} by the source's name), queue (of types that are made on demand), priority (what the
-- source's usual one becomes), rows, parse_queued.
create or replace function millrace.judge_imports(p_source text, p_schema text, p_rows millrace.import_row[], p_map jsonb)
  returns setof millrace.import_verdict language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_queue text := coalesce(p_map ->> 'queue', 'default');
  v_queue_attempts integer;
  -- A type that is yet to be made has no rules of its own: one without any stands in for it.
  v_plain text := (select t.job_type from millrace.job_type t where t.enabled and t.required_keys = '{}' order by t.type_id limit 1);
  v_bad text;
  v_all millrace.import_verdict[];
begin
  select k into v_bad from jsonb_object_keys(coalesce(p_map, '{}')) k where k not in ('types', 'queue', 'priority', 'rows', 'parse_queued') limit 1;
  if v_bad is not null then
    raise exception 'the map has an unknown field %', v_bad using errcode = 'MR024';
  end if;
  select q.max_attempts into v_queue_attempts from millrace.queue q where q.queue = v_queue;
  if not found then
    raise exception 'queue % does not exist', quote_literal(v_queue) using errcode = 'MR007';
  end if;
  v_all := array(
    select row(r.i, r.source_type, m.job_type, coalesce(m.queue, q.queue, v_queue), t.type_id is null, x.tenant_id,
               case when r.reason is not null then r.reason
                    when m.skip then 'skipped by the map'
                    when exists (select from millrace.imported_job j
                                  where j.source = p_source and j.source_schema = p_schema and j.source_type = r.source_type
                                    and j.source_id = r.source_id and j.source_created_at = r.source_created_at) then 'already moved'
                    when millrace.is_tenant_disabled(x.tenant_id) then 'its tenant is disabled'
                    when t.type_id is null and coalesce(m.job_type !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,126}$', true)
                      then 'its name cannot be a job type: map it'
                    when not t.enabled then 'its job type is disabled'
                    when z.tokens > z.tokens_max then 'cost over limit (MR014)' end,
               r.job || jsonb_build_object('job_type', m.job_type,
                 'max_attempts', least(greatest(coalesce(r.attempts_max, t.max_attempts, o.max_attempts, q.max_attempts, v_queue_attempts)
                                                - coalesce(r.attempts_used, 0), 1), 1000))
               || case when m.queue is null then '{}' else jsonb_build_object('queue', m.queue) end
               -- The key of millrace.create_export_job, so that a user who asks again is given this job.
               || case when p_source <> 'export' then '{}' else jsonb_build_object('dedupe_key',
                    encode(sha256(array_send(array['\x6d696c6c726163652e6578706f72742e7631'::bytea, uuid_send(x.tenant_id), uuid_send(r.user_id),
                      uuid_send(millrace.uuid_or_null(r.job #>> '{payload,document_id}')),
                      convert_to((r.job #> '{payload,options}')::text, 'UTF8')])), 'hex')) end)::millrace.import_verdict
      from unnest(p_rows) with ordinality r(source_type, source_id, source_created_at, user_id, attempts_used, attempts_max, reason, job, kept, i)
      cross join lateral (select p_map -> 'types' -> r.source_type as entry) e
      cross join lateral (
        select coalesce(case jsonb_typeof(e.entry) when 'string' then e.entry #>> '{}' else e.entry ->> 'type' end,
                        case p_source when 'export' then 'export_pdf' when 'baseworker' then 'ingest_document' else r.source_type end) as job_type,
               e.entry ->> 'queue' as queue, coalesce(e.entry ->> 'skip' = 'true', false) as skip) m
      cross join lateral (select coalesce(v_scope, millrace.tenant_of_user(r.user_id), '00000000-0000-0000-0000-000000000000') as tenant_id) x
      left join millrace.job_type t on t.job_type = m.job_type
      left join millrace.queue q on q.queue_id = t.queue_id
      left join millrace.queue o on o.queue = m.queue
      cross join lateral (
        select case when jsonb_typeof(r.job #> '{payload,estimated_tokens}') = 'number' then (r.job #>> '{payload,estimated_tokens}')::numeric
                    else 1000 end as tokens,
               (select millrace.token_limit(a.provider_id) from millrace.api_rate_limits a
                 where a.provider_name = t.provider_name and a.api_endpoint = t.api_endpoint) as tokens_max) z
     order by r.i);
  return query
  with free as materialized (
    select v.ord, case when v.is_new then v.job || jsonb_build_object('job_type', v_plain) else v.job end as job, row_number() over (order by v.ord) as i
      from unnest(v_all) v where v.reason is null),
  refused as materialized (
    select f.ord, format('%s (%s)', replace(s.name, '_', ' '), c.code) as reason
      from millrace.refused_jobs(array(select f.job from free f order by f.i)) c
      join free f on f.i = c.ord left join millrace.sqlstate s on s.code = c.code)
  select v.ord, v.source_type, v.job_type, v.queue, v.is_new, v.tenant_id, coalesce(v.reason, f.reason), v.job
    from unnest(v_all) v left join refused f on f.ord = v.ord order by v.ord;
end;
$$;
