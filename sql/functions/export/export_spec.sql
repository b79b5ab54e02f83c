-- millrace.export_spec: the job that exports a document for a user, as millrace.specs_from_json reads it. It names the version that is current, and shows that one
-- whatever is written meanwhile (F06); a document that does not lie here has none. Its dedupe key is made of all that it would do, so that the same wish finds the
-- job that lives (X-21). At most three exports of a user run at once: the user is the concurrency key.
create or replace function millrace.export_spec(p_tenant uuid, p_user_id uuid, p_document_id uuid, p_options jsonb) returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_document record;
  v_options jsonb := p_options;
  v_wish bytea[];
begin
  select v.version, v.template_slug into v_document from millrace.export_document d
    join millrace.export_document_version v on v.document_id = d.document_id and v.version = d.version
   where d.document_id = p_document_id and d.tenant_id = p_tenant and d.user_id = p_user_id;
  if found then
    v_options := jsonb_build_object('templateSlug', v_document.template_slug) || p_options;
  end if;
  v_wish := array[case when v_document.version is null then '\x6d696c6c726163652e6578706f72742e7631'::bytea else '\x6d696c6c726163652e6578706f72742e7632'::bytea end,
    uuid_send(p_tenant), uuid_send(p_user_id), uuid_send(p_document_id), convert_to(v_options::text, 'UTF8')];
  if v_document.version is not null then
    v_wish := v_wish || int4send(v_document.version);
  end if;
  -- Queue, attempts and time as the pipeline says, where a worker has told of it.
  return coalesce(millrace.first_job('export'), '{}') || jsonb_build_object(
    'job_type', 'export_pdf', 'job_name', 'export ' || p_document_id, 'owner_id', p_user_id, 'concurrency_key', p_user_id,
    'payload', jsonb_strip_nulls(jsonb_build_object('document_id', p_document_id, 'document_version', v_document.version, 'user_id', p_user_id, 'format', 'pdf'))
      || jsonb_build_object('options', v_options),
    'dedupe_key', encode(sha256(array_send(v_wish)), 'hex'));
end;
$$;
