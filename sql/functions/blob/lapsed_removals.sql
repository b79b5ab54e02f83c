-- millrace.lapsed_removals: keys that were marked and never told to be removed: the sweeper died, or did not hear from the store. Until somebody ends them
-- nothing can refer to them: whoever sweeps marks them again (millrace.mark_blobs), removes what is older than `if_stored_before`, and ends that.
create or replace function millrace.lapsed_removals(p_limit integer) returns table (store_key text, if_stored_before timestamptz)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return query
  select r.store_key, millrace.now() - make_interval(secs => millrace.config_integer('storage.orphan_grace_seconds', 86400))
    from millrace.blob_removal r where r.ended_at is null and r.marked_at < millrace.now() - interval '10 minutes' order by r.marked_at limit p_limit;
end;
$$;
