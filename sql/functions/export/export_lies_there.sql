-- millrace.export_lies_there: whether a user's upload would lie where an export of the history has its file: what is handed out as an export is what was made (X-06). Services, whose own
-- workers make files, are not held to it.
create or replace function millrace.export_lies_there(p_tenant uuid, p_bucket text, p_name text, p_user uuid) returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return p_user is not null and p_bucket = 'exports'
    and exists (select from millrace.export_history h where h.tenant_id = p_tenant and h.file_path = p_name);
end;
$$;
