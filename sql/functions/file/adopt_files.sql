-- millrace.adopt_files: enqueues the first job of files that came while enqueue, or the type of that job, was switched off, oldest first. One that fails stops
-- no other.
create or replace function millrace.adopt_files(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_file millrace.shell_files;
  v_count integer := 0;
begin
  if not millrace.config_boolean('system.enqueue_enabled', true) then
    return 0;
  end if;
  for v_file in
    select f.* from millrace.shell_files f
     where f.job_id is null and exists (select from millrace.job_type t where t.job_type = millrace.first_job_type(f.pipeline) and t.enabled)
     order by f.created_at limit p_limit for update of f skip locked
  loop
    begin
      perform millrace.start_file(v_file, null, null, 'file_enqueued');
      v_count := v_count + 1;
    exception when others then
      raise warning 'file % could not be enqueued and will be tried again: %', v_file.id, sqlerrm;
    end;
  end loop;
  return v_count;
end;
$$;
