-- millrace.check_removal: called by who is about to refer to a key of the blob store, in the transaction that does. MR037 while a sweep removes it (detail:
-- removing), and after that (detail: the removal and the key) where it may have been stored before the end, and so be gone: p_stored_at is not five minutes
-- later, which is how far the clocks of store and database may be apart; null: not known. Whoever has looked since, and found it, says so by
-- millrace.clear_removal.
create or replace function millrace.check_removal(p_store_key text, p_stored_at timestamptz) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_removal record;
begin
  -- Held to the end of the transaction: until then nobody can mark it. And the look is a statement of its own, after it.
  perform pg_advisory_xact_lock_shared(millrace.blob_lock(p_store_key));
  select r.removal_id, r.ended_at into v_removal from millrace.blob_removal r
   where r.store_key = p_store_key and (r.ended_at is null or p_stored_at is null or p_stored_at < r.ended_at + interval '5 minutes');
  if found then
    raise exception 'content % may have been removed', p_store_key
      using errcode = 'MR037', detail = case when v_removal.ended_at is null then 'removing' else v_removal.removal_id || ' ' || p_store_key end, hint = 'store it again';
  end if;
end;
$$;
