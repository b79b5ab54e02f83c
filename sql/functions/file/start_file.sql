-- millrace.start_file: enqueues the first job of a file (U-07, U-11), in the transaction that makes the row. Where enqueue (or the type) is switched off
-- the file stays without one, and millrace.adopt_files does it later: an upload succeeds whatever becomes of its processing (U-01). A full queue lets it pass
-- for the same reason; the quota bounds it.
create or replace function millrace.start_file(p_file millrace.shell_files, p_correlation_id text, p_traceparent text, p_action text)
  returns millrace.shell_files language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_file millrace.shell_files := p_file;
  v_first jsonb := millrace.first_job(p_file.pipeline);
begin
  if millrace.config_boolean('system.enqueue_enabled', true)
     and exists (select from millrace.job_type t where t.job_type = v_first ->> 'job_type' and t.enabled) then
    select e.job_id into strict v_file.job_id
      from millrace.enqueue_specs(millrace.specs_from_json(jsonb_strip_nulls(jsonb_build_object(
             'owner_id', p_file.owner_id, 'dedupe_key', 'shell_file:' || p_file.id, 'correlation_id', p_correlation_id,
             'traceparent', p_traceparent) || v_first
             || jsonb_build_object('job_name', left(case p_file.pipeline when 'ingest' then 'Ingest ' else 'Process ' end || p_file.file_name, 256), 'pipeline', p_file.pipeline,
                  'payload', jsonb_strip_nulls(jsonb_build_object('shell_file_id', p_file.id, 'storage_path', p_file.storage_path,
                    'pipeline_hash', (select encode(p.hash, 'hex') from millrace.pipeline p where p.name = p_file.pipeline)))
                  -- Under the names of the RFC too, which the type of its job requires (U-11), in whichever pipeline it is the first.
                  || case v_first ->> 'job_type' when 'ingest_document' then jsonb_build_object('document_id', p_file.id, 'raw_path', p_file.storage_path, 'user_id', p_file.owner_id) else '{}' end))), p_file.tenant_id, true) e;
    update millrace.shell_files f set job_id = v_file.job_id where f.id = p_file.id;
  end if;
  perform millrace.audit_for(p_file.tenant_id, 'shell_files', p_file.id::text, p_action, null,
    jsonb_build_object('job_id', v_file.job_id, 'sha256', encode(p_file.sha256, 'hex'), 'size_bytes', p_file.size_bytes), 'File stored', p_file.patient_id);
  return v_file;
end;
$$;
