-- millrace.check_stored: reads and checks what a caller says of content it has stored: sha256 (hexadecimal), size_bytes, content_type (by the
-- content), store_key, stored_at. Content that was stored more than an hour ago is refused: the sweep of orphans, which keeps what is younger
-- than two hours at least, might be removing it at this moment. Storing it again makes it young.
create or replace function millrace.check_stored(p_blob jsonb) returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(p_blob) is distinct from 'object' or coalesce(p_blob ->> 'sha256', '') !~ '^[0-9a-f]{64}$'
     or coalesce(p_blob ->> 'size_bytes', '') !~ '^[0-9]{1,15}$' or coalesce(p_blob ->> 'store_key', '') = '' or coalesce(p_blob ->> 'stored_at', '') = '' then
    raise exception 'blob must have sha256, size_bytes, store_key and stored_at' using errcode = 'MR024';
  end if;
  if millrace.parse_time(p_blob ->> 'stored_at', 'stored_at') < millrace.now() - interval '1 hour' then
    raise exception 'content % was stored too long ago', p_blob ->> 'sha256' using errcode = 'MR037', hint = 'store it again';
  end if;
end;
$$;
