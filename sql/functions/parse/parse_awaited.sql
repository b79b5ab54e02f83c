-- millrace.parse_awaited: where the parse of a job stands, for whoever brings it: null where none was ever asked for, 'ended' where the job has ended without it, as one that was cancelled; 'waiting' also where it was given up
-- and its text would still be taken (millrace.parse_awaits). Of several runs the last counts.
create or replace function millrace.parse_awaited(p_job_id uuid) returns text
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return (select case when millrace.parse_awaits(r, true) then replace(r.state, 'failed', 'waiting') when r.state in ('asked', 'waiting') then 'ended' else r.state end from millrace.parse_request r where r.job_id = p_job_id order by r.run desc limit 1);
end;
$$;
