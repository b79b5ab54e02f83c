-- millrace.document_work: what a stage needs to know to do a job: the file and where its content is, the document, and for the job of a page that page with what earlier
-- stages made of it (results), of the page before (previous) and of the whole document (whole). A job of several pages has them in `group`, each with the same. `quarantined`: the file, or the page of the job; in `group` each page. `limited_by`: whose limits jobs of its type count against; null: nobody's. MR039 where the file is gone.
create or replace function millrace.document_work(p_job_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_answer jsonb;
begin
  select jsonb_build_object(
      'file', jsonb_build_object('id', f.id, 'tenant_id', f.tenant_id, 'patient_id', f.patient_id, 'owner_id', f.owner_id, 'file_name', f.file_name, 'pipeline', f.pipeline,
        'size_bytes', f.size_bytes, 'sha256', encode(f.sha256, 'hex'), 'store_key', b.store_key, 'created_at', f.created_at,
        'charset', (select c.charset from millrace.file_charset c where c.file_id = f.id)),
      'document', case when d.file_id is not null then jsonb_build_object('run', d.run, 'state', d.state, 'stage', d.stage, 'kind', d.kind, 'mime', d.mime,
        'page_count', d.page_count, 'findings', d.findings, 'summary', d.summary, 'pipeline_hash', encode(d.pipeline_hash, 'hex')) end,
      'quarantined', exists (select from millrace.quarantine q where q.tenant_id = f.tenant_id and q.released_at is null and (q.sha256 = f.sha256
        or q.sha256 = (select p.content_sha256 from millrace.page p where p.file_id = f.id and p.page = (j.payload ->> 'page')::integer))),
      'limited_by', (select t.provider_name || ':' || t.api_endpoint from millrace.job_type t where t.type_id = j.type_id),
      'whole', case when j.payload ? 'page' then millrace.results_json(f.id, 0) else '{}' end)
      || case when j.payload ? 'pages' then jsonb_build_object('group', (
           select jsonb_agg(jsonb_build_object('page', millrace.page_json(f.id, u.page), 'results', millrace.results_json(f.id, u.page),
                              'previous', case when u.page > 1 then millrace.results_json(f.id, u.page - 1) else '{}' end,
                              'quarantined', exists (select from millrace.quarantine q where q.tenant_id = f.tenant_id and q.released_at is null and (q.sha256 = f.sha256
                                or q.sha256 = (select p.content_sha256 from millrace.page p where p.file_id = f.id and p.page = u.page)))) order by u.page)
             from (select e::integer as page from jsonb_array_elements_text(j.payload -> 'pages') e) u))
         else jsonb_build_object('page', millrace.page_json(f.id, (j.payload ->> 'page')::integer),
           'previous', case when (j.payload ->> 'page')::integer > 1 then millrace.results_json(f.id, (j.payload ->> 'page')::integer - 1) else '{}' end,
           'results', millrace.results_json(f.id, coalesce((j.payload ->> 'page')::integer, 0))) end
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
