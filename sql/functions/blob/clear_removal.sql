-- millrace.clear_removal: this removal is over, and its content was looked for since and is there: it can be referred to. False where it is no longer the
-- last one of its key: then it must be looked for once more.
create or replace function millrace.clear_removal(p_store_key text, p_removal_id uuid) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  delete from millrace.blob_removal r where r.store_key = p_store_key and r.removal_id = p_removal_id and r.ended_at is not null;
  return found;
end;
$$;
