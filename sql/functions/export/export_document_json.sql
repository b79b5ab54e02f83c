-- millrace.export_document_json: an export document as callers see it, in one of its versions; lists leave its data out.
create or replace function millrace.export_document_json(p_document millrace.export_document, p_version millrace.export_document_version, p_data boolean) returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('id', p_document.document_id, 'userId', p_document.user_id, 'title', p_version.title, 'templateSlug', p_version.template_slug,
      'version', p_version.version, 'contentSha256', encode(p_version.content_sha256, 'hex'), 'createdAt', p_document.created_at, 'updatedAt', p_version.created_at)
    || case when p_data then jsonb_build_object('data', p_version.data) else '{}' end;
end;
$$;
