-- millrace.unknown_blobs: of these keys of the blob store, those that no row knows: left behind by writers that died before they told the
-- database. The caller removes them, but only where their bytes are older than the grace (storage.orphan_grace_seconds).
create or replace function millrace.unknown_blobs(p_store_keys text[], p_sha256 bytea[])
  returns table (store_key text, if_stored_before timestamptz)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return query
  select u.store_key, millrace.now() - make_interval(secs => millrace.config_integer('storage.orphan_grace_seconds', 86400))
    from unnest(p_store_keys, p_sha256) u(store_key, sha256)
   where not exists (select from millrace.blob_object b where b.sha256 = u.sha256)
     and not exists (select from millrace.upload_part p where p.handle = u.store_key);
end;
$$;
