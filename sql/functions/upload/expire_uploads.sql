-- millrace.expire_uploads: gives up uploads that have expired, forgets those that ended a day ago, and answers the pieces of uploads that are not
-- open any more: the caller removes them, but only where their bytes are older than `if_stored_before` (somebody may be storing the same, see
-- millrace.check_stored), and then calls millrace.forget_parts with those that are gone, millrace.delay_parts with the others. Pieces are answered when they are
-- old enough for that, until they are forgotten. A piece is named by its content: one that content of somebody, or a piece of an open upload, is named
-- by too is only forgotten. Removals that ended before all that may now be referred to was stored (millrace.check_removal) are forgotten as well.
create or replace function millrace.expire_uploads(p_limit integer) returns table (upload_id uuid, handle text, if_stored_before timestamptz)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    raise exception 'p_limit must be between 1 and 10000' using errcode = 'MR024';
  end if;
  with old as materialized (
    select u.upload_id from millrace.upload u where u.expires_at < millrace.now() and u.state = 'open' order by u.expires_at limit p_limit for update skip locked)
  update millrace.upload u set state = 'aborted' from old o where u.upload_id = o.upload_id;
  with old as materialized (
    select u.upload_id from millrace.upload u
     where u.expires_at < millrace.now() and u.state <> 'open' and not exists (select from millrace.upload_part p where p.upload_id = u.upload_id)
     order by u.expires_at limit p_limit for update skip locked)
  delete from millrace.upload u using old o where u.upload_id = o.upload_id;
  delete from millrace.upload_part p using (
    select x.upload_id, x.offset_bytes from millrace.upload_part x
     where not exists (select from millrace.upload u where u.upload_id = x.upload_id and u.state = 'open')
       and (exists (select from millrace.blob_object b where b.store_key = x.handle)
            or exists (select from millrace.upload_part o join millrace.upload u on u.upload_id = o.upload_id and u.state = 'open' where o.handle = x.handle))
     order by x.upload_id, x.offset_bytes limit p_limit for update skip locked) s
   where p.upload_id = s.upload_id and p.offset_bytes = s.offset_bytes;
  delete from millrace.blob_removal r using (
    select x.store_key from millrace.blob_removal x where x.ended_at < millrace.now() - interval '2 hours' order by x.ended_at limit p_limit for update skip locked) s
   where r.store_key = s.store_key;
  return query
  select p.upload_id, p.handle, millrace.now() - interval '2 hours' from millrace.upload_part p
   where not exists (select from millrace.upload u where u.upload_id = p.upload_id and u.state = 'open')
     and coalesce(p.sweep_at, p.created_at + interval '2 hours') <= millrace.now()
   order by coalesce(p.sweep_at, p.created_at), p.upload_id, p.offset_bytes limit p_limit;
end;
$$;
