-- millrace.mark_blobs: the sweep is about to remove these keys of the blob store. Answers those that are marked by this call: to be removed within
-- minutes, and then told to millrace.end_removals. Left out is what a row refers to, or is about to, and what another sweep has marked within the last
-- ten minutes: who holds such a mark has stopped removing long before they are over. Waits for nobody.
create or replace function millrace.mark_blobs(p_store_keys text[]) returns table (store_key text, removal_id uuid)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_key text;
begin
  if cardinality(p_store_keys) > 1000 then
    raise exception 'at most 1000 keys can be marked in one call' using errcode = 'MR024';
  end if;
  for v_key in select distinct k from unnest(p_store_keys) k where k is not null loop
    -- Shared by those who refer to it and have not committed.
    continue when not pg_try_advisory_xact_lock(millrace.blob_lock(v_key));
    continue when exists (select from millrace.blob_object b where b.store_key = v_key and b.condemned_at is null)
               or exists (select from millrace.upload_part p join millrace.upload u on u.upload_id = p.upload_id and u.state = 'open' where p.handle = v_key);
    return query
    insert into millrace.blob_removal as r (store_key, removal_id, marked_at) values (v_key, millrace.new_id(), v_now)
    on conflict on constraint blob_removal_pkey do update set removal_id = excluded.removal_id, marked_at = excluded.marked_at, ended_at = null
      where r.ended_at is not null or r.marked_at < v_now - interval '10 minutes'
    returning r.store_key, r.removal_id;
  end loop;
end;
$$;
