-- millrace.condemn_blobs: the first half of removing content that nothing refers to. Looks at notes older than the grace, and condemns, under the
-- lock of its row, what is still without a reference; answers that and what was condemned before and not forgotten yet. The caller removes
-- the bytes of those that are `removable` (no other tenant has the same), but only where they are older than `if_stored_before`, and then
-- calls millrace.forget_blobs with those that are gone or not removable, and millrace.delay_blobs with the others. Dying anywhere in between costs nothing
-- but a repeat.
create or replace function millrace.condemn_blobs(p_limit integer)
  returns table (tenant_id uuid, sha256 bytea, store_key text, removable boolean, if_stored_before timestamptz)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_grace interval := make_interval(secs => millrace.config_integer('storage.orphan_grace_seconds', 86400));
  v_note record;
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    raise exception 'p_limit must be between 1 and 10000' using errcode = 'MR024';
  end if;
  for v_note in
    select n.note_id, n.tenant_id, n.sha256, n.size_bytes from millrace.orphan_note n
     where n.noted_at < v_now - v_grace order by n.noted_at, n.note_id limit p_limit for update skip locked
  loop
    perform from millrace.blob_object b where b.tenant_id = v_note.tenant_id and b.sha256 = v_note.sha256 for update skip locked;
    -- Locked by somebody: that is a reference in the making, and the note is looked at again.
    continue when not found and exists (select from millrace.blob_object b where b.tenant_id = v_note.tenant_id and b.sha256 = v_note.sha256);
    -- In a statement of its own, after the lock: references that were committed while it was waited for are seen.
    update millrace.blob_object b set condemned_at = v_now
     where b.tenant_id = v_note.tenant_id and b.sha256 = v_note.sha256 and b.condemned_at is null
       and not millrace.is_blob_used(b.tenant_id, b.sha256);
    delete from millrace.orphan_note n where n.note_id = v_note.note_id;
    if v_note.size_bytes > 0 then
      insert into millrace.usage_delta (tenant_id, bytes, files, dead_bytes) values (v_note.tenant_id, 0, 0, -v_note.size_bytes);
    end if;
  end loop;
  return query
  select b.tenant_id, b.sha256, b.store_key,
         not exists (select from millrace.blob_object o where o.sha256 = b.sha256 and o.tenant_id <> b.tenant_id and o.condemned_at is null)
         and not exists (select from millrace.upload_part p where p.handle = b.store_key),
         v_now - v_grace
    from millrace.blob_object b where b.condemned_at is not null order by b.condemned_at limit p_limit;
end;
$$;
