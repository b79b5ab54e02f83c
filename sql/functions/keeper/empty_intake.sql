-- millrace.empty_intake: cuts the intake down to nothing when what COPY brought and took out again has made it large. Vacuum would read all of
-- it, and could remove nothing while a snapshot is open. 1 when it was cut. Waits for those who are copying for an instant only.
create or replace function millrace.empty_intake() returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '50ms'
as $$
begin
  -- Rows that stayed were brought past the trigger: whoever did so has to say what shall become of them.
  if pg_relation_size('millrace.job_intake') < 16 * 1024 * 1024 or exists (select from millrace.job_intake) then
    return 0;
  end if;
  truncate millrace.job_intake;
  return 1;
exception when lock_not_available then
  return 0;
end;
$$;
