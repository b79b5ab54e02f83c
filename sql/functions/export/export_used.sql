-- millrace.export_used: the bytes of a user's exports that can be downloaded.
create or replace function millrace.export_used(p_tenant uuid, p_user_id uuid) returns bigint
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (select coalesce(sum(h.file_size), 0) from millrace.export_history h
           where h.user_id = p_user_id and h.tenant_id = p_tenant and h.expires_at > millrace.now());
end;
$$;
