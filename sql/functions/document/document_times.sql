-- millrace.document_times: when a document came to be what it is, for the record that goes with its outputs: the run, when the file was taken in, when the last of its stages had its
-- result, and for each stage when its first job was made and its last result written; milliseconds since 1970. By the ids of jobs and the rows of results alone: whoever asks again in
-- the name of the same job hears the same. A result that was taken over from an equal page has no job: its stage had it when it was taken over. MR039 where the document is gone. For workers.
create or replace function millrace.document_times(p_file_id uuid, p_job_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_document millrace.document;
  v_stages jsonb;
  v_taken timestamptz := (select f.created_at from millrace.shell_files f where f.id = p_file_id);
  v_ended timestamptz;
begin
  select d.* into v_document from millrace.document d where d.file_id = p_file_id;
  if not found then
    raise exception 'document % does not exist', p_file_id using errcode = 'MR039';
  end if;
  select coalesce(jsonb_object_agg(s.stage, jsonb_build_object('started_ms', floor(extract(epoch from s.started_at) * 1000)::bigint, 'ended_ms', floor(extract(epoch from s.ended_at) * 1000)::bigint)), '{}'),
         max(s.ended_at)
    into v_stages, v_ended
    from (select r.stage, least(min(coalesce(millrace.id_time(r.job_id), r.created_at)), max(r.created_at)) as started_at, max(r.created_at) as ended_at
            from millrace.page_result r where r.file_id = p_file_id group by r.stage) s;
  return jsonb_build_object('run', v_document.run, 'started_ms', floor(extract(epoch from v_taken) * 1000)::bigint,
    'ended_ms', floor(extract(epoch from greatest(v_taken, millrace.id_time(p_job_id), v_ended)) * 1000)::bigint, 'stages', v_stages);
end;
$$;
