-- millrace.document_work: what a stage needs to know to do a job: the file and where its content is, the document, and for the job of a page that page with what earlier
-- stages made of it (results), of the page before (previous) and of the whole document (whole). MR039 where the file is gone.
create or replace function millrace.document_work(p_job_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_answer jsonb;
begin
  select jsonb_build_object(
      'file', jsonb_build_object('id', f.id, 'tenant_id', f.tenant_id, 'patient_id', f.patient_id, 'owner_id', f.owner_id, 'file_name', f.file_name, 'pipeline', f.pipeline,
        'size_bytes', f.size_bytes, 'sha256', encode(f.sha256, 'hex'), 'store_key', b.store_key, 'created_at', f.created_at),
      'document', case when d.file_id is not null then jsonb_build_object('run', d.run, 'state', d.state, 'stage', d.stage, 'kind', d.kind, 'mime', d.mime,
        'page_count', d.page_count, 'findings', d.findings, 'summary', d.summary, 'pipeline_hash', encode(d.pipeline_hash, 'hex')) end,
      'quarantined', exists (select from millrace.quarantine q where q.tenant_id = f.tenant_id and q.sha256 = f.sha256 and q.released_at is null),
      'page', (select jsonb_build_object('page', p.page, 'content_sha256', encode(p.content_sha256, 'hex'), 'width_pt', p.width_pt, 'height_pt', p.height_pt,
                        'rotation_deg', p.rotation_deg, 'text_chars', p.text_chars, 'state', p.state)
                 from millrace.page p where p.file_id = f.id and p.page = (j.payload ->> 'page')::integer),
      'whole', coalesce((select jsonb_object_agg(r.stage, jsonb_build_object('sha256', encode(r.sha256, 'hex'), 'size_bytes', r.size_bytes, 'store_key', c.store_key,
                                  'reuse_key', encode(r.reuse_key, 'hex'), 'meta', r.meta))
                           from millrace.page_result r join millrace.blob_object c on c.tenant_id = r.tenant_id and c.sha256 = r.sha256
                          where r.file_id = f.id and r.page = 0 and j.payload ? 'page'), '{}'),
      'previous', coalesce((select jsonb_object_agg(r.stage, jsonb_build_object('sha256', encode(r.sha256, 'hex'), 'size_bytes', r.size_bytes, 'store_key', c.store_key,
                                     'reuse_key', encode(r.reuse_key, 'hex'), 'meta', r.meta))
                              from millrace.page_result r join millrace.blob_object c on c.tenant_id = r.tenant_id and c.sha256 = r.sha256
                             where r.file_id = f.id and r.page = (j.payload ->> 'page')::integer - 1 and r.page > 0), '{}'),
      'results', coalesce((select jsonb_object_agg(r.stage, jsonb_build_object('sha256', encode(r.sha256, 'hex'), 'size_bytes', r.size_bytes, 'store_key', c.store_key,
                                    'reuse_key', encode(r.reuse_key, 'hex'), 'meta', r.meta))
                             from millrace.page_result r join millrace.blob_object c on c.tenant_id = r.tenant_id and c.sha256 = r.sha256
                            where r.file_id = f.id and r.page = coalesce((j.payload ->> 'page')::integer, 0)), '{}'))
    into v_answer
    from millrace.job_fact j
    join millrace.shell_files f on f.id = millrace.uuid_or_null(j.payload ->> 'shell_file_id') and f.tenant_id = j.tenant_id
    join millrace.blob_object b on b.tenant_id = f.tenant_id and b.sha256 = f.sha256
    left join millrace.document d on d.file_id = f.id
   where j.job_id = p_job_id;
  if v_answer is null then
    raise exception 'the file of job % does not exist', p_job_id using errcode = 'MR039';
  end if;
  return v_answer;
end;
$$;
