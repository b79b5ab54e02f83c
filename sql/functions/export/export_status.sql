-- millrace.export_status: the status of a job in the source's words, which know neither retrying nor deferred.
create or replace function millrace.export_status(p_status text) returns text
  language sql immutable parallel safe
  return case when p_status in ('retrying', 'deferred') then 'pending' else p_status end;
