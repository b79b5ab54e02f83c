-- millrace.parse_awaits: whether what a parser says of this parse is still taken. That of a job that has not ended: while the parse is neither here nor known to have failed. That of a dead letter too, until it is redriven
-- or its document is begun anew, and its text (p_text) also after the parse was given up: it is paid for, and the redrive, or the document begun anew (millrace.inherit_parse), finds it. Of a job that was cancelled or is done: nothing (W-07).
create or replace function millrace.parse_awaits(p_request millrace.parse_request, p_text boolean) returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_place text := millrace.place_of(p_request.job_id);
begin
  if v_place not in ('final', 'not_found') then
    return p_request.state in ('asked', 'waiting');
  end if;
  return (p_request.state in ('asked', 'waiting') or p_text and p_request.state = 'failed')
     and exists (select from millrace.job_history h where h.job_id = p_request.job_id and h.status = 'failed' and h.redriven_at is null)
     and exists (select from millrace.document d where d.file_id = p_request.file_id and d.run = p_request.run);
end;
$$;
