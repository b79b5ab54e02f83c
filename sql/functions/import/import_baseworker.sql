-- millrace.import_baseworker: live jobs of the BaseWorker RFC's upload_jobs; otherwise as millrace.import_guardian. Its status is the stage, and
-- a worker that runs a job holds its row. One that waits for the parser's callback stays until that came, unless the map says
-- parse_queued = 'uploaded': then it is parsed again. A webhook secret is not carried along.
-- The job is the first one of the file with the document's id: it takes a parse that is stored here (parsed_path) instead of making one, and goes on from there; chunks and
-- vectors of the source are made anew.
create or replace function millrace.import_baseworker(p_schema text, p_map jsonb, p_limit integer, p_skip text[], p_skip_types text[])
  returns setof millrace.import_row language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_table text := millrace.import_table(p_schema, '{upload_jobs}', '{job_id,user_id,document_id,status,raw_path,retry_count,last_error,created_at}');
  v_again boolean := coalesce(p_map ->> 'parse_queued' = 'uploaded', false);
begin
  return query execute format($sql$
    with picked as materialized (
      select to_jsonb(t) as r, t.status::text as stage from %1$I.%2$I t
       where %3$s and ($2 is null or not t.job_id::text = any ($2)) and ($3 is null or not 'upload_jobs' = any ($3))
       order by t.created_at, t.job_id %4$s)
    select 'upload_jobs', p.r ->> 'job_id', coalesce((p.r ->> 'created_at')::timestamptz, '-infinity'), (p.r ->> 'user_id')::uuid,
           (p.r ->> 'retry_count')::integer, null::integer,
           case when p.stage = 'parse_queued' and not $5 then 'waits for the callback of the parser'
                when p.stage = 'processing' then 'running'
                when p.stage not in ('uploaded', 'parse_queued', 'parsed', 'parse_validated', 'chunking', 'chunks_stored', 'embedding_queued',
                                     'embedding_in_progress', 'embeddings_stored') then 'its status is not known'
                when not millrace.import_fits(d.payload) then 'payload too large (MR004)' end,
           jsonb_build_object('id', millrace.uuid_or_null(p.r ->> 'job_id'),
             'payload', case when millrace.import_fits(d.payload) then d.payload end, 'job_name', 'ingest ' || (p.r ->> 'document_id'),
             'owner_id', p.r ->> 'user_id', 'pipeline', 'ingest', 'stage', case p.stage when 'parse_queued' then 'uploaded' else p.stage end,
             'scheduled_at', millrace.import_time(p.r #>> '{last_error,retry_at}')),
           case when $4 = 'delete' then p.r - 'webhook_secret' else p.r - '{progress,webhook_secret}'::text[] end
      from picked p
      cross join lateral (select jsonb_strip_nulls(jsonb_build_object(
                            'document_id', p.r -> 'document_id', 'shell_file_id', p.r -> 'document_id', 'user_id', p.r -> 'user_id', 'raw_path', p.r -> 'raw_path',
                            'parsed_path', p.r -> 'parsed_path', 'parsed_sha256', p.r -> 'parsed_sha256', 'chunks_version', p.r -> 'chunks_version',
                            'embed_model', p.r -> 'embed_model', 'embed_version', p.r -> 'embed_version'))
                            || jsonb_build_object('progress', coalesce(nullif(p.r -> 'progress', 'null'), '{}')) as payload offset 0) d $sql$,
    p_schema, v_table,
    case when p_limit is null then $list$t.status::text not in ('complete', 'failed_parse', 'failed_chunking', 'failed_embedding')$list$
         else $list$t.status::text in ('uploaded', 'parsed', 'parse_validated', 'chunking', 'chunks_stored', 'embedding_queued',
                                       'embedding_in_progress', 'embeddings_stored'$list$ || case when v_again then $list$, 'parse_queued')$list$ else ')' end end,
    case when p_limit is not null then 'limit $1 for update of t skip locked' else '' end)
    using p_limit, p_skip, p_skip_types, p_map ->> 'rows', v_again;
end;
$$;
