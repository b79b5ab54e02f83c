-- millrace.drop_files: removes files with their objects, cancels their jobs that live, and answers the rows as they were. Jobs come first, because whoever settles one holds it while
-- it writes to its file; then documents before files, as whoever goes on with one; then objects before files, as by whoever makes a file of an object.
create or replace function millrace.drop_files(p_ids uuid[], p_reason text) returns setof millrace.shell_files
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_file millrace.shell_files;
begin
  perform millrace.cancel_one(j.job_id, null, p_reason)
     from (select f.job_id from millrace.shell_files f where f.id = any (p_ids) and f.job_id is not null
           union
           select d.job_id from millrace.document d where d.file_id = any (p_ids) and d.job_id is not null
           union
           select j.job_id from millrace.document d join millrace.job_fact j on j.batch_id = d.batch_id where d.file_id = any (p_ids)
           union
           select b.callback_job_id from millrace.document d join millrace.batch b on b.batch_id = d.batch_id where d.file_id = any (p_ids) and b.callback_job_id is not null
           order by 1) j;
  perform from millrace.document d where d.file_id = any (p_ids) order by d.file_id for update;
  perform from millrace.storage_object o
     join millrace.shell_files f on f.tenant_id = o.tenant_id and f.bucket = o.bucket and f.storage_path = o.name
    where f.id = any (p_ids) order by o.object_id for update of o;
  for v_file in select f.* from millrace.shell_files f where f.id = any (p_ids) order by f.id for update loop
    delete from millrace.shell_files f where f.id = v_file.id;
    delete from millrace.storage_object o
     where o.tenant_id = v_file.tenant_id and o.bucket = v_file.bucket and o.name = v_file.storage_path
       and not exists (select from millrace.shell_files x where x.tenant_id = o.tenant_id and x.bucket = o.bucket and x.storage_path = o.name);
    perform millrace.audit_for(v_file.tenant_id, 'shell_files', v_file.id::text, 'file_deleted',
      jsonb_build_object('sha256', encode(v_file.sha256, 'hex'), 'size_bytes', v_file.size_bytes), null, p_reason, v_file.patient_id);
    return next v_file;
  end loop;
end;
$$;
