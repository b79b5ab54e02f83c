-- millrace.lock_exports: whoever is about to count what a user's exports take, or to take more, stands in line until the end of the transaction.
create or replace function millrace.lock_exports(p_tenant uuid, p_user_id uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(p_tenant::text || ':' || p_user_id::text, 7080));
end;
$$;
