-- millrace.import_cross_off: says in the source that jobs were moved, in the source's own way: cancelled (pg-boss, Guardian, Export), failed at its
-- stage (BaseWorker, which knows no cancelled), deleted (graphile-worker, and where the map says so). The rows are held by this
-- transaction; answers how many there were. Runs with the rights of the caller.
create or replace function millrace.import_cross_off(p_source text, p_schema text, p_map jsonb, p_answers millrace.import_answer[]) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_table text := case p_source when 'guardian' then 'job_queue' when 'export' then 'export_jobs' when 'baseworker' then 'upload_jobs'
                                when 'pg-boss' then 'job' else millrace.import_table(p_schema, '{_private_jobs,jobs}', '{id}') end;
  v_class regclass := format('%I.%I', p_schema, v_table)::regclass;
  v_key text := case p_source when 'baseworker' then 'job_id' else 'id' end;
  v_has text[] := array(select a.attname::text from pg_attribute a where a.attrelid = v_class and a.attnum > 0 and not a.attisdropped);
  v_match text := format('t.%I = a.source_id::%s', v_key,
                         (select format_type(a.atttypid, null) from pg_attribute a where a.attrelid = v_class and a.attname = v_key))
                  || case p_source when 'pg-boss' then ' and t.name = a.source_type' else '' end;
  v_note constant text := $note$jsonb_build_object('moved_to', 'millrace', 'job_id', a.job_id, 'moved_at', millrace.now())$note$;
  v_error text;
  v_set text;
  v_count integer;
begin
  if p_source = 'graphile-worker' or p_map ->> 'rows' = 'delete' then
    execute format('delete from %s t using unnest($1) a where %s', v_class, v_match) using p_answers;
  else
    v_error := case when 'error_details' = any (v_has) then 'error_details' when 'error' = any (v_has) then 'error' end;
    v_set := case p_source
      when 'guardian' then concat('status = ''cancelled'', completed_at = millrace.now()',
        case when v_error is not null then format(', %1$I = case jsonb_typeof(t.%1$I) when ''object'' then t.%1$I else ''{}'' end || %2$s', v_error, v_note) end)
      when 'export' then 'status = ''cancelled'', completed_at = millrace.now(), error_message = ''moved to Millrace as job '' || a.job_id'
      when 'baseworker' then concat(
        'status = case when t.status in (''uploaded'', ''parse_queued'', ''parsed'', ''parse_validated'') then ''failed_parse''
                       when t.status in (''chunking'', ''chunks_stored'') then ''failed_chunking'' else ''failed_embedding'' end, last_error = ', v_note)
      when 'pg-boss' then format('state = ''cancelled'', %I = millrace.now(), output = %s',
        case when 'completedon' = any (v_has) then 'completedon' else 'completed_on' end, v_note) end
      || case when 'updated_at' = any (v_has) then ', updated_at = millrace.now()' else '' end;
    execute format('update %s t set %s from unnest($1) a where %s', v_class, v_set, v_match) using p_answers;
  end if;
  get diagnostics v_count = row_count;
  return v_count;
exception when check_violation then
  raise exception '%.% does not allow the status that would mark a job as moved', quote_ident(p_schema), quote_ident(v_table)
    using errcode = 'MR024', hint = 'allow it, or say rows = "delete" in the map';
end;
$$;
