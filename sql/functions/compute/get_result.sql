-- millrace.get_result: what a job came to, for whoever may see it: its state, outputs and score, artifacts that have not expired (as keys of content:
-- URLs are signed by whoever hands them out), or its last error. MR009 for any other job.
create or replace function millrace.get_result(p_job_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_job millrace.job_brief := millrace.job_brief_of(p_job_id);
begin
  if v_job.job_id is null or not millrace.job_visible(v_job.tenant_id, v_job.owner_id, millrace.tenant_scope()) then
    raise exception 'job % does not exist', p_job_id using errcode = 'MR009';
  end if;
  return jsonb_build_object('job_id', p_job_id, 'tenant_id', v_job.tenant_id, 'job_type', v_job.job_type, 'status', v_job.status, 'attempts', v_job.attempt,
    'finished_at', v_job.finished_at, 'result', v_job.result, 'last_error', case when v_job.status <> 'completed' then v_job.error end)
    || coalesce((select jsonb_build_object('outputs_json', r.outputs_json, 'score', r.score, 'created_at', r.created_at)
                   from millrace.result r where r.job_id = p_job_id and v_job.status = 'completed'), '{}')
    || jsonb_build_object('artifacts', coalesce((
         select jsonb_agg(jsonb_build_object('id', a.id, 'kind', a.kind, 'file_name', a.file_name, 'sha256', encode(a.sha256, 'hex'), 'size_bytes', a.size_bytes,
                  'content_type', a.content_type, 'expires_at', a.expires_at, 'store_key', b.store_key) order by a.id)
           from millrace.artifact a join millrace.blob_object b on b.tenant_id = a.tenant_id and b.sha256 = a.sha256
          where a.job_id = p_job_id and v_job.status = 'completed' and (a.expires_at is null or a.expires_at > millrace.now())), '[]'));
end;
$$;
