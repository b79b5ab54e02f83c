-- millrace.create_export_job: a PDF export for a user, ordered by a service, which has looked at quotas itself, of a document that lies here or elsewhere (for workers of the service's own). While one with the same document and
-- options is live and was not told to stop, its id is the answer. Called without a tenant (service_role without token or setting), the job belongs to the user's own tenant.
create or replace function millrace.create_export_job(p_user_id uuid, p_document_id uuid, p_options jsonb default '{}')
  returns uuid language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant uuid;
  v_options jsonb := coalesce(p_options, '{}');
  v_spec jsonb;
  v_job record;
begin
  if p_user_id is null or p_document_id is null then
    raise exception 'p_user_id and p_document_id are required' using errcode = 'MR024';
  end if;
  if jsonb_typeof(v_options) <> 'object' then
    raise exception 'p_options must be a JSON object' using errcode = 'MR024';
  end if;
  v_tenant := coalesce(millrace.tenant_scope(), millrace.tenant_of_user(p_user_id));
  -- Held until the job is there: the version that it names is not forgotten.
  perform from millrace.export_document d where d.document_id = p_document_id and d.tenant_id = v_tenant and d.user_id = p_user_id for share;
  v_spec := millrace.export_spec(v_tenant, p_user_id, p_document_id, v_options);
  perform millrace.free_cancelled(v_tenant, jsonb_build_array(v_spec));
  select e.job_id, e.answer into strict v_job from millrace.enqueue_specs(millrace.specs_from_json(v_spec), v_tenant) e;
  if v_job.answer = 'created' then
    insert into millrace.export_reservation (job_id, tenant_id, user_id, bytes, document_id, document_version)
    values (v_job.job_id, v_tenant, p_user_id, millrace.config_bigint('export.reserve_bytes', 1048576), p_document_id,
            (select millrace.json_integer(f.payload, 'document_version') from millrace.job_fact f where f.job_id = v_job.job_id)) on conflict do nothing;
  end if;
  return v_job.job_id;
end;
$$;
