-- millrace.settle_export: the job of an export is being settled: its object, its history and the size it has in place of what was kept for it, all in the transaction that
-- holds the fence. p_item: blob (as in millrace.check_stored), file_path (of millrace.reserve_export), file_name, template_slug, document_version, and preview, the blob of
-- a picture of the first page, which becomes an artifact of the job.
create or replace function millrace.settle_export(p_job_id uuid, p_item jsonb) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_expires timestamptz := v_now + make_interval(secs => millrace.config_integer('export.ttl_seconds', 604800));
  v_job record;
  v_path text;
  v_object uuid := millrace.new_id();
  v_history uuid;
begin
  select f.tenant_id, f.owner_id, f.batch_id, millrace.uuid_or_null(f.payload ->> 'document_id') as document_id into strict v_job
    from millrace.job_fact f where f.job_id = p_job_id;
  delete from millrace.export_reservation r where r.job_id = p_job_id returning r.file_path into v_path;
  if v_path is distinct from p_item ->> 'file_path' then
    raise exception 'the place of the file is not the one that was reserved' using errcode = 'MR024';
  end if;
  -- In the order of their digests, as everywhere.
  perform millrace.take_blob(v_job.tenant_id, b.blob)
     from (select i as blob from unnest(array[p_item -> 'blob', p_item -> 'preview']) i where jsonb_typeof(i) = 'object' order by (i ->> 'sha256') collate "C") b;
  insert into millrace.storage_object (object_id, tenant_id, bucket, name, owner_id, sha256, size_bytes, content_type, cache_control, created_at, updated_at)
  values (v_object, v_job.tenant_id, 'exports', v_path, v_job.owner_id, decode(p_item #>> '{blob,sha256}', 'hex'), (p_item #>> '{blob,size_bytes}')::bigint,
          'application/pdf', '3600', v_now, v_now);
  perform millrace.audit_for(v_job.tenant_id, 'storage_object', v_object::text, 'object_stored', null,
    jsonb_build_object('bucket', 'exports', 'sha256', p_item #>> '{blob,sha256}', 'size_bytes', (p_item #>> '{blob,size_bytes}')::bigint), 'Object stored');
  -- A job that was redriven after it had a file: that one stays until it expires, without a job.
  update millrace.export_history h set job_id = null where h.job_id = p_job_id;
  insert into millrace.export_history as h (id, tenant_id, user_id, document_id, document_version, format, template_slug, file_name, file_path, file_size, job_id,
      batch_id, expires_at, created_at)
  values (millrace.new_id(), v_job.tenant_id, v_job.owner_id, v_job.document_id, (p_item ->> 'document_version')::integer, 'pdf', p_item ->> 'template_slug',
          left(p_item ->> 'file_name', 1024), v_path, (p_item #>> '{blob,size_bytes}')::bigint, p_job_id, v_job.batch_id, v_expires, v_now)
  returning h.id into v_history;
  perform millrace.audit_for(v_job.tenant_id, 'export_history', v_history::text, 'export_stored', null,
    jsonb_build_object('file_size', (p_item #>> '{blob,size_bytes}')::bigint, 'job_id', p_job_id), 'Export stored');
  delete from millrace.artifact a where a.job_id = p_job_id and a.kind = 'preview';
  if jsonb_typeof(p_item -> 'preview') = 'object' then
    insert into millrace.artifact (id, job_id, tenant_id, kind, file_name, sha256, size_bytes, content_type, expires_at, created_at)
    values (millrace.new_id(), p_job_id, v_job.tenant_id, 'preview', 'preview.png', decode(p_item #>> '{preview,sha256}', 'hex'), (p_item #>> '{preview,size_bytes}')::bigint,
            'image/png', v_expires, v_now);
  end if;
end;
$$;
