-- millrace.take_blob: content that a row of this transaction is about to refer to (see millrace.check_stored, millrace.check_removal). Whoever condemned it
-- meanwhile is overruled: its bytes were written again, and are young.
create or replace function millrace.take_blob(p_tenant uuid, p_blob jsonb) returns bytea
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_sha256 bytea;
  v_size bigint;
begin
  perform millrace.check_stored(p_blob);
  perform millrace.check_removal(p_blob ->> 'store_key', millrace.parse_time(p_blob ->> 'stored_at', 'stored_at'));
  v_sha256 := decode(p_blob ->> 'sha256', 'hex');
  insert into millrace.blob_object as b (tenant_id, sha256, size_bytes, content_type, store_key, created_at)
  values (p_tenant, v_sha256, (p_blob ->> 'size_bytes')::bigint, left(coalesce(p_blob ->> 'content_type', 'application/octet-stream'), 200),
          p_blob ->> 'store_key', millrace.now())
  on conflict (tenant_id, sha256) do update set condemned_at = null, store_key = excluded.store_key
  returning b.size_bytes into v_size;
  if v_size <> (p_blob ->> 'size_bytes')::bigint then
    raise exception 'content % has % bytes, not %', p_blob ->> 'sha256', v_size, p_blob ->> 'size_bytes' using errcode = 'MR024';
  end if;
  return v_sha256;
end;
$$;
