-- millrace.export_spec: the job that exports a document for a user, as millrace.specs_from_json reads it. Its dedupe key is made of all that it would
-- do, so that the same wish finds the job that lives (X-21). At most three exports of a user run at once: the user is the concurrency key.
create or replace function millrace.export_spec(p_tenant uuid, p_user_id uuid, p_document_id uuid, p_options jsonb) returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'job_type', 'export_pdf', 'job_name', 'export ' || p_document_id, 'owner_id', p_user_id, 'concurrency_key', p_user_id,
    'payload', jsonb_build_object('document_id', p_document_id, 'user_id', p_user_id, 'format', 'pdf', 'options', p_options),
    'dedupe_key', encode(sha256(array_send(array['\x6d696c6c726163652e6578706f72742e7631'::bytea, uuid_send(p_tenant),
      uuid_send(p_user_id), uuid_send(p_document_id), convert_to(p_options::text, 'UTF8')])), 'hex'));
end;
$$;
