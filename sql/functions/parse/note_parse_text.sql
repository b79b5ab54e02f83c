-- millrace.note_parse_text: trigger, once a statement; text that a request has let go is noted for the sweep. Requests change for other reasons while they have their text.
create or replace function millrace.note_parse_text() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  insert into millrace.orphan_note (tenant_id, sha256, noted_at)
  select distinct o.tenant_id, o.sha256, millrace.now() from old_rows o
   where o.sha256 is not null
     and not exists (select from new_rows n where n.file_id = o.file_id and n.run = o.run and n.tenant_id = o.tenant_id and n.sha256 = o.sha256);
  return null;
end;
$$;
