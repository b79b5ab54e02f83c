-- What uploads, files and content change, beside jobs; and what a case came to. Test databases only.
create or replace view millrace_test.changing as
select c.relname as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where n.nspname = 'millrace' and c.relkind in ('r', 'p') and not c.relispartition
   and c.relname in ('audit', 'blob_object', 'blob_removal', 'counter', 'counter_delta', 'dedupe_key', 'event', 'handoff', 'job_fact', 'job_history', 'orphan_note', 'ready',
                     'shell_files', 'storage_object', 'tenant_usage', 'upload', 'upload_part', 'usage_delta', 'user_profiles', 'wake');

-- A statement of a user, in the caller's transaction.
create function millrace_test.as_user(p_user uuid, p_sql text) returns text
  language plpgsql as $$
declare
  v_answer text;
begin
  perform set_config('request.jwt.claims', jsonb_build_object('sub', p_user, 'app_metadata', jsonb_build_object('tenant_id', current_setting('millrace.tenant_id')))::text, true);
  perform set_config('role', 'authenticated', true);
  execute p_sql into v_answer;
  perform set_config('role', 'none', true);
  perform set_config('request.jwt.claims', '', true);
  return v_answer;
end $$;

-- Ten times the same letter; which it was.
create function millrace_test.letter(p_sha256 bytea) returns text
  language sql as $$
  select l from unnest('{a,b,c,d,e,g}'::text[]) l where sha256(convert_to(repeat(l, 10), 'UTF8')) = p_sha256
$$;

-- All sweeps, until there is nothing left to sweep: whoever passed over something does so later.
create function millrace_test.sweep() returns void
  language plpgsql as $$
begin
  perform millrace.forget_parts(array_agg(e.upload_id), array_agg(e.handle)) from millrace.expire_uploads(100) e having count(*) > 0;
  perform millrace.expire_uploads(100);
  perform millrace.sweep_objects(100);
  perform millrace.forget_blobs(array_agg(c.tenant_id), array_agg(c.sha256)) from millrace.condemn_blobs(100) c having count(*) > 0;
  perform millrace.fold_usages(100);
end $$;

-- What there is to sweep.
create function millrace_test.to_sweep() returns text
  language sql as $$
  select concat_ws(' ', (select string_agg(millrace_test.letter(n.sha256), '' order by n.sha256) from millrace.orphan_note n),
                   (select string_agg(p.handle, ' ' order by p.handle) from millrace.upload_part p), (select count(*) from millrace.usage_delta))
$$;

-- What holds always.
create function millrace_test.wrong_uploads() returns text
  language sql as $$
  select string_agg(w.what, '; ') from (
    select format('file %s has no object', f.id) as what from millrace.shell_files f
     where not exists (select from millrace.storage_object o where o.tenant_id = f.tenant_id and o.bucket = f.bucket and o.name = f.storage_path
                          and o.sha256 = f.sha256 and o.claimed)
    union all
    select format('file %s has no live job', f.id) from millrace.shell_files f where not exists (select from millrace.ready r where r.job_id = f.job_id)
    union all
    select format('job %s has no file', r.job_id) from millrace.ready r where not exists (select from millrace.shell_files f where f.job_id = r.job_id)
    union all
    select format('object %s is claimed by no file', o.name) from millrace.storage_object o
     where o.claimed and not exists (select from millrace.shell_files f where f.tenant_id = o.tenant_id and f.bucket = o.bucket and f.storage_path = o.name)
    union all
    select format('content %s is gone', millrace_test.letter(o.sha256)) from millrace.storage_object o
     where not exists (select from millrace.blob_object b where b.tenant_id = o.tenant_id and b.sha256 = o.sha256 and b.condemned_at is null)
    union all
    select format('content %s is forgotten', millrace_test.letter(b.sha256)) from millrace.blob_object b
     where b.condemned_at is null and not millrace.is_blob_used(b.tenant_id, b.sha256)
       and not exists (select from millrace.orphan_note n where n.tenant_id = b.tenant_id and n.sha256 = b.sha256)
    union all
    select format('content %s is referred to while it is removed', millrace_test.letter(o.sha256)) from millrace.storage_object o
      join millrace.blob_object b on b.tenant_id = o.tenant_id and b.sha256 = o.sha256 join millrace.blob_removal r on r.store_key = b.store_key
    union all
    select format('%s bytes and %s files are counted, %s and %s are there', s.bytes, s.files, o.bytes, o.files)
      from millrace.tenant t cross join lateral millrace.tenant_stored(t.tenant_id) s
      cross join lateral (select coalesce(sum(x.size_bytes), 0) as bytes, count(*) as files from millrace.storage_object x where x.tenant_id = t.tenant_id) o
     where (s.bytes, s.files) is distinct from (o.bytes, o.files)
    union all
    select format('%s bytes are stored and %s reserved, of %s', s.bytes, s.reserved_bytes, t.quota_bytes)
      from millrace.tenant t cross join lateral millrace.tenant_stored(t.tenant_id) s where s.bytes + s.reserved_bytes > t.quota_bytes
    union all
    select format('piece %s belongs to nothing', p.handle) from millrace.upload_part p where not exists (select from millrace.upload u where u.upload_id = p.upload_id)) w
$$;

-- What is there, in words that do not depend on ids that were made.
create function millrace_test.uploads() returns text
  language sql as $$
  select concat_ws(' | ',
    (select 'files ' || coalesce(string_agg(concat(f.idempotency_key, ' ', millrace_test.letter(f.sha256)), ', ' order by f.idempotency_key, f.sha256), 'none')
       from millrace.shell_files f),
    (select 'objects ' || coalesce(string_agg(millrace_test.letter(o.sha256) || case when o.claimed then ' of a file' else '' end, ', ' order by o.sha256), 'none')
       from millrace.storage_object o),
    (select 'content ' || coalesce(string_agg(millrace_test.letter(b.sha256) || case when b.condemned_at is not null then ' condemned' else '' end, ', ' order by b.sha256), 'none')
       from millrace.blob_object b),
    (select 'uploads ' || coalesce(string_agg(concat(u.state, ' ', u.offset_bytes, ' of ', u.reserved_bytes, ' ', right(u.writer::text, 1)), ', ' order by u.created_at, u.upload_id), 'none')
       from millrace.upload u),
    (select format('%s profiles', count(*)) from millrace.user_profiles),
    (select format('%s marked', count(*)) from millrace.blob_removal),
    (select format('%s cancelled', count(*)) from millrace.job_history h where h.status = 'cancelled'),
    (select format('%s bytes, %s reserved', s.bytes, s.reserved_bytes) from millrace.tenant t cross join lateral millrace.tenant_stored(t.tenant_id) s))
$$;
