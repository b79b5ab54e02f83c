-- millrace.note_parse: what the stage has learned of its parse: remote_id (then it is waited for), withdrawn (it was certainly not asked for), failed (a reason: it will not come). What has arrived meanwhile stays
-- arrived; said twice, it changes nothing. Answers the parse as it stands. Fence as in millrace.ask_parse.
create or replace function millrace.note_parse(p_job_id uuid, p_token uuid, p_note jsonb) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_document millrace.document := millrace.hold_stage(p_job_id, p_token);
  v_request millrace.parse_request;
begin
  if p_note ? 'withdrawn' then
    delete from millrace.parse_request r where r.file_id = v_document.file_id and r.run = v_document.run and r.state = 'asked' and r.remote_id is null and r.asks = 1;
    return jsonb_build_object('state', 'withdrawn');
  end if;
  update millrace.parse_request r
     set remote_id = coalesce(left(p_note ->> 'remote_id', 500), r.remote_id),
         state = case when r.state not in ('asked', 'waiting') then r.state when p_note ? 'failed' then 'failed' when p_note ? 'remote_id' then 'waiting' else r.state end,
         reason = case when r.state in ('asked', 'waiting') and p_note ? 'failed' then left(p_note ->> 'failed', 500) else r.reason end,
         ended_at = case when r.state in ('asked', 'waiting') and p_note ? 'failed' then millrace.now() else r.ended_at end
   where r.file_id = v_document.file_id and r.run = v_document.run returning r.* into v_request;
  if not found then
    raise exception 'no parse was asked for by job %', p_job_id using errcode = 'MR047';
  end if;
  return millrace.parse_json(v_request);
end;
$$;
