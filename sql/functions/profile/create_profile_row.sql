-- millrace.create_profile_row: millrace.create_profile, answering the profile as millrace.list_profiles shows it: what is kept for a request that may
-- be asked again.
create or replace function millrace.create_profile_row(p_name text, p_owner uuid default null, p_id uuid default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_id uuid := millrace.create_profile(p_name, p_owner, p_id);
begin
  -- In a statement of its own, which sees the row.
  return (select to_jsonb(p) from millrace.list_profiles(null, 1, v_id) p);
end;
$$;
