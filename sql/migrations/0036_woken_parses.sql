-- A webhook that comes while the job of its parse is in somebody's hands is remembered until that delivery is settled.
-- Lock cost: parse_request is locked for a change of the catalog. compat: rolling

alter table millrace.parse_request
  -- Something was told after the delivery that runs had looked, perhaps: the job looks again at once.
  add column woken boolean not null default false;

-- Requests change while they have their text: only what they let go is noted. The trigger is replaced here, so that there is none of the time without one (sql/policies/10_triggers.sql finds it).
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
drop trigger if exists parse_request_changed on millrace.parse_request;
create trigger parse_request_changed after update on millrace.parse_request
  referencing old table as old_rows new table as new_rows for each statement execute function millrace.note_parse_text();
