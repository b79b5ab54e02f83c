-- millrace.begin_document: a worker has the first job of a file in its hands. The first time, the document is bound to the version of its pipeline that was current when the job was
-- made, or where nobody had registered one, to that of the worker (p_pipeline: as millrace.put_pipeline, or null); a repeat (a retry, a redrive) finds it bound. Answers what
-- millrace.document_work does; without a document where neither is there. Changes nothing that a stale worker could spoil: a document that has ended stays ended until its job settles.
create or replace function millrace.begin_document(p_job_id uuid, p_pipeline jsonb) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_file millrace.shell_files;
  v_wanted text;
  v_hash bytea;
begin
  select f.* into v_file from millrace.job_fact j join millrace.shell_files f on f.id = millrace.uuid_or_null(j.payload ->> 'shell_file_id') and f.tenant_id = j.tenant_id
   where j.job_id = p_job_id;
  if not found then
    raise exception 'the file of job % does not exist', p_job_id using errcode = 'MR039';
  end if;
  select j.payload ->> 'pipeline_hash' into v_wanted from millrace.job_fact j where j.job_id = p_job_id;
  if v_wanted ~ '^[0-9a-f]{64}$' then
    select v.hash into v_hash from millrace.pipeline_version v where v.hash = decode(v_wanted, 'hex') and v.name = v_file.pipeline;
  end if;
  -- Another pipeline may have a first stage of the same name; a document is never bound to that.
  if v_hash is null and p_pipeline ->> 'name' = v_file.pipeline then
    v_hash := millrace.put_pipeline(p_pipeline);
  end if;
  if v_hash is null then
    return millrace.document_work(p_job_id);
  end if;
  insert into millrace.document (file_id, tenant_id, pipeline_hash, stage, job_id, started_at, updated_at)
  select v_file.id, v_file.tenant_id, v.hash, v.first_job ->> 'job_type', p_job_id, v_now, v_now from millrace.pipeline_version v where v.hash = v_hash
  on conflict (file_id) do nothing;
  if v_file.status = 'uploaded' then
    update millrace.shell_files f set status = 'processing', updated_at = v_now where f.id = v_file.id and f.status = 'uploaded';
    if found then
      insert into millrace.event (at, tenant_id, kind, queue_id, job_ids, data)
      select v_now, j.tenant_id, 'document.started', j.queue_id, array[p_job_id], jsonb_build_object('file_id', v_file.id)
        from millrace.job_fact j where j.job_id = p_job_id;
    end if;
  end if;
  return millrace.document_work(p_job_id);
end;
$$;
