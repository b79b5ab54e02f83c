-- millrace.parsed_object: the text of a document as the object that the BaseWorker RFC names, {user_id}/parsed/{document_id}.md (B-06), as far as the caller may see it; else null. It is no row, but
-- the content that the stages read: so it changes and goes with the text, takes no room of its own, and nobody can put another in its place.
create or replace function millrace.parsed_object(p_name text, p_scope uuid) returns millrace.storage_object
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_document millrace.document;
  v_text millrace.page_result;
  v_owner uuid;
  v_object millrace.storage_object;
begin
  if p_name !~ '^[0-9a-f-]{36}/parsed/[0-9a-f-]{36}[.]md$' then
    return null;
  end if;
  select f.owner_id into v_owner from millrace.shell_files f
   where f.id = millrace.uuid_or_null(substr(p_name, 45, 36)) and f.owner_id = millrace.uuid_or_null(left(p_name, 36)) and millrace.object_visible(f.tenant_id, f.owner_id, p_scope);
  if not found then
    return null;
  end if;
  select d.* into v_document from millrace.document d where d.file_id = millrace.uuid_or_null(substr(p_name, 45, 36));
  v_text := millrace.parsed_text(v_document);
  if v_text.file_id is null then
    return null;
  end if;
  v_object.object_id := v_text.file_id;
  v_object.tenant_id := v_text.tenant_id;
  v_object.bucket := 'medical-docs';
  v_object.name := p_name;
  v_object.owner_id := v_owner;
  v_object.sha256 := v_text.sha256;
  v_object.size_bytes := v_text.size_bytes;
  v_object.content_type := 'text/markdown; charset=utf-8';
  -- The next run may say something else.
  v_object.cache_control := '0';
  v_object.created_at := v_text.created_at;
  v_object.updated_at := v_text.created_at;
  return v_object;
end;
$$;
