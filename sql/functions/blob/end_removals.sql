-- millrace.end_removals: these removals are over: their keys were removed, or were kept for their youth, or nothing was tried. Not those of which nobody
-- knows whether the store will still act: they stay marked until millrace.lapsed_removals tells them. Answers how many; one that another sweep
-- has taken over is not this caller's to end.
create or replace function millrace.end_removals(p_removal_ids uuid[]) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_count integer;
begin
  update millrace.blob_removal r set ended_at = millrace.now() where r.removal_id = any (p_removal_ids) and r.ended_at is null;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
