-- millrace.list_export_documents: export documents of a user that the caller may see, newest first, behind p_after; of all users, where none is named and the caller is
-- none. Without data.
create or replace function millrace.list_export_documents(p_user_id uuid default null, p_after uuid default null, p_limit integer default 50) returns setof jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_user uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') else p_user_id end;
begin
  if p_user_id is distinct from v_user and p_user_id is not null then
    raise exception 'p_user_id must be the caller' using errcode = 'MR015';
  end if;
  return query
  select millrace.export_document_json(row(d.*)::millrace.export_document, row(v.*)::millrace.export_document_version, false)
    from millrace.export_document d
    join millrace.export_document_version v on v.document_id = d.document_id and v.version = d.version
   where (v_scope is null or d.tenant_id = v_scope) and (v_user is null or d.user_id = v_user) and (p_after is null or d.document_id < p_after)
   order by d.document_id desc limit least(greatest(coalesce(p_limit, 50), 1), 1000);
end;
$$;
