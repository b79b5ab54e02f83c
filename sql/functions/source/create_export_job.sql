-- millrace.create_export_job: a PDF export for a user. While one with the same document and options is live, its id is the answer.
-- Called without a tenant (service_role without token or setting), the job belongs to the user's own tenant, which is the
-- one their token names. At most three exports of a user run at once: the user is the concurrency key.
create or replace function millrace.create_export_job(p_user_id uuid, p_document_id uuid, p_options jsonb default '{}')
  returns uuid language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant uuid := coalesce(millrace.tenant_scope(), p_user_id);
  v_options jsonb := coalesce(p_options, '{}');
  v_job_id uuid;
begin
  if p_user_id is null or p_document_id is null then
    raise exception 'p_user_id and p_document_id are required' using errcode = 'MR024';
  end if;
  if jsonb_typeof(v_options) <> 'object' then
    raise exception 'p_options must be a JSON object' using errcode = 'MR024';
  end if;
  select e.job_id into strict v_job_id
    from millrace.enqueue_specs(millrace.specs_from_json(jsonb_build_object(
           'job_type', 'export_pdf', 'job_name', 'export ' || p_document_id, 'owner_id', p_user_id, 'concurrency_key', p_user_id,
           'payload', jsonb_build_object('document_id', p_document_id, 'user_id', p_user_id, 'format', 'pdf', 'options', v_options),
           'dedupe_key', encode(sha256(array_send(array['\x6d696c6c726163652e6578706f72742e7631'::bytea, uuid_send(v_tenant),
             uuid_send(p_user_id), uuid_send(p_document_id), convert_to(v_options::text, 'UTF8')])), 'hex'))),
         v_tenant) e;
  return v_job_id;
end;
$$;
