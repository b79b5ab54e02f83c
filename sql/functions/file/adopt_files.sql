-- millrace.adopt_files: enqueues the first job of files that came while enqueue, or the type of that job, was switched off, oldest first. One that fails stops
-- no other, and is tried again an hour later: p_limit that were never tried, and as many that failed, however many of those there are.
create or replace function millrace.adopt_files(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_file millrace.shell_files;
  v_count integer := 0;
begin
  if not millrace.config_boolean('system.enqueue_enabled', true) then
    return 0;
  end if;
  for v_file in
    select n.* from (
      select f.* from millrace.shell_files f
       where f.job_id is null and exists (select from millrace.job_type t where t.job_type = millrace.first_job_type(f.pipeline) and t.enabled)
         and not exists (select from millrace.file_retry r where r.file_id = f.id)
       order by f.created_at limit p_limit for update of f skip locked) n
    union all
    select d.* from (
      select f.* from millrace.file_retry r join millrace.shell_files f on f.id = r.file_id
       where r.retry_at <= v_now and f.job_id is null
         and exists (select from millrace.job_type t where t.job_type = millrace.first_job_type(f.pipeline) and t.enabled)
       order by r.retry_at limit p_limit for update of f skip locked) d
  loop
    begin
      perform millrace.start_file(v_file, null, null, 'file_enqueued');
      delete from millrace.file_retry r where r.file_id = v_file.id;
      v_count := v_count + 1;
    exception when others then
      raise warning 'file % could not be enqueued and will be tried again: %', v_file.id, sqlerrm;
      insert into millrace.file_retry (file_id, retry_at) values (v_file.id, v_now + interval '1 hour')
      on conflict (file_id) do update set retry_at = excluded.retry_at;
    end;
  end loop;
  return v_count;
end;
$$;
