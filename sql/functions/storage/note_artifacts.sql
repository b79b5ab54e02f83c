-- millrace.note_artifacts: trigger, once a statement; content that a row let go is noted for the sweep.
create or replace function millrace.note_artifacts() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  insert into millrace.orphan_note (tenant_id, sha256, noted_at) select distinct o.tenant_id, o.sha256, millrace.now() from old_rows o where o.sha256 is not null;
  return null;
end;
$$;
