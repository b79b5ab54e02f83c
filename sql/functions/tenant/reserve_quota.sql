-- millrace.reserve_quota: lets p_bytes more (and p_files more objects) in, or raises MR027. Callers of one tenant stand in line for its row, so
-- that what each sees includes the reservations of those before it; the reservation itself is the row of the upload (p_upload, which
-- does not count here), and ends with it. Folds what was stored since. A tenant without a limit waits for nobody.
-- What was given up or deleted makes room at once, but lies in the store until a sweep has come by: with all that, a tenant has twice its quota there at most.
create or replace function millrace.reserve_quota(p_tenant uuid, p_bytes bigint, p_files bigint, p_upload uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_quota record;
  v_now record;
  v_own record;
begin
  select q.bytes_max, q.files_max into v_quota from millrace.tenant_quota(p_tenant) q;
  if v_quota.bytes_max is null and v_quota.files_max is null then
    return;
  end if;
  insert into millrace.tenant_usage (tenant_id) values (p_tenant) on conflict do nothing;
  perform from millrace.tenant_usage u where u.tenant_id = p_tenant for update;
  perform millrace.fold_usage(p_tenant);
  select s.bytes, s.files, s.reserved_bytes, s.reserved_files into v_now from millrace.tenant_stored(p_tenant) s;
  select coalesce(sum(o.reserved_bytes), 0) as bytes, count(*) as files into v_own
    from millrace.upload o where o.upload_id = p_upload and o.state = 'open' and o.expires_at > millrace.now();
  if v_now.bytes + v_now.reserved_bytes - v_own.bytes + p_bytes > v_quota.bytes_max then
    raise exception 'the quota of % bytes is used up: % are stored, % announced, % asked for',
      v_quota.bytes_max, v_now.bytes, v_now.reserved_bytes - v_own.bytes, p_bytes
      using errcode = 'MR027', hint = 'delete what is not needed, or ask for a larger quota';
  end if;
  if v_now.bytes + v_now.reserved_bytes - v_own.bytes + p_bytes + millrace.tenant_dead(p_tenant) > 2 * v_quota.bytes_max::numeric then
    raise exception 'the quota of % bytes is used up by what was given up or deleted and is not removed yet', v_quota.bytes_max
      using errcode = 'MR027', hint = 'try again when it is: pieces of uploads go within hours, deleted content after storage.orphan_grace_seconds';
  end if;
  if v_now.files + v_now.reserved_files - v_own.files + p_files > v_quota.files_max then
    raise exception 'the quota of % files is used up', v_quota.files_max
      using errcode = 'MR027', hint = 'delete what is not needed, or ask for a larger quota';
  end if;
end;
$$;
