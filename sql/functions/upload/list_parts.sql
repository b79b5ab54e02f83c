-- millrace.list_parts: the pieces of an upload in order, from the one that begins at p_from or behind it.
create or replace function millrace.list_parts(p_upload_id uuid, p_user uuid, p_from bigint, p_limit integer)
  returns table (offset_bytes bigint, size_bytes bigint, handle text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  if p_from is null or p_limit is null or p_limit not between 1 and 10000 then
    raise exception 'p_from is required, and p_limit between 1 and 10000' using errcode = 'MR024';
  end if;
  perform millrace.find_upload(p_upload_id, p_user, false);
  return query
  select p.offset_bytes, p.size_bytes, p.handle from millrace.upload_part p
   where p.upload_id = p_upload_id and p.offset_bytes >= p_from order by p.offset_bytes limit p_limit;
end;
$$;
