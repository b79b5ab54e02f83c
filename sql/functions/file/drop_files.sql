-- millrace.drop_files: removes files with their objects, and cancels their jobs that live. Locks files before objects, by id.
create or replace function millrace.drop_files(p_ids uuid[], p_reason text) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_file millrace.shell_files;
  v_jobs uuid[] := '{}';
  v_count integer := 0;
begin
  for v_file in select f.* from millrace.shell_files f where f.id = any (p_ids) order by f.id for update loop
    delete from millrace.shell_files f where f.id = v_file.id;
    delete from millrace.storage_object o
     where o.tenant_id = v_file.tenant_id and o.bucket = v_file.bucket and o.name = v_file.storage_path
       and not exists (select from millrace.shell_files x where x.tenant_id = o.tenant_id and x.bucket = o.bucket and x.storage_path = o.name);
    perform millrace.audit_for(v_file.tenant_id, 'shell_files', v_file.id::text, 'file_deleted',
      jsonb_build_object('sha256', encode(v_file.sha256, 'hex'), 'size_bytes', v_file.size_bytes), null, p_reason, v_file.patient_id);
    v_jobs := v_jobs || v_file.job_id;
    v_count := v_count + 1;
  end loop;
  perform millrace.cancel_one(j.job_id, null, p_reason) from (select distinct u as job_id from unnest(v_jobs) u where u is not null order by u) j;
  return v_count;
end;
$$;
