-- millrace.ask_parse: the parse that a job of a document wants of somebody else, as it stands; without p_request only that, and null where none was asked for. With parser and request_sha256 (as the call for it
-- would be put on record) what arrived for a run before counts as asked for (millrace.inherit_parse). With p_request (parser,
-- capability_sha256, deadline_seconds, call_id) it is put on record before anything is sent, once for a run of the document: what is waited for, has arrived or failed is answered as it is. `ask` says
-- that the caller is to ask now: the first time; again after an ask of which nobody knows what became of it, which is counted (F08: it may be charged twice, and is on record for that); and
-- anew for a job that was redriven after its parse had failed. `previous_call_id` is the call of the ask before, whose end nobody knows. Fence: a delivery that holds its lease, of the job that the document waits for; else MR001.
create or replace function millrace.ask_parse(p_job_id uuid, p_token uuid, p_request jsonb default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
  v_document millrace.document := millrace.hold_stage(p_job_id, p_token);
  v_generation integer := (select l.generation from millrace.lease l where l.job_id = p_job_id);
  v_request millrace.parse_request;
  v_ask boolean := false;
  v_previous uuid;
begin
  select r.* into v_request from millrace.parse_request r where r.file_id = v_document.file_id and r.run = v_document.run for update;
  if v_request.file_id is null and p_request ? 'request_sha256' then
    v_request := millrace.inherit_parse(v_document, p_job_id, v_generation, p_request);
  end if;
  if p_request is null or not p_request ? 'capability_sha256' then
    -- Whoever looks from here on sees what was told before.
    update millrace.parse_request r set woken = false where r.file_id = v_request.file_id and r.run = v_request.run and r.woken;
    return case when v_request.file_id is not null then millrace.parse_json(v_request) || jsonb_build_object('ask', v_request.state = 'asked' and v_request.remote_id is null) end;
  end if;
  if v_request.file_id is null then
    insert into millrace.parse_request (file_id, run, tenant_id, job_id, parser, capability_sha256, asked_at, deadline, generation, call_id)
    values (v_document.file_id, v_document.run, v_document.tenant_id, p_job_id, p_request ->> 'parser', decode(p_request ->> 'capability_sha256', 'hex'), v_now,
            v_now + make_interval(secs => (p_request ->> 'deadline_seconds')::double precision), v_generation, millrace.uuid_or_null(p_request ->> 'call_id'))
    returning * into v_request;
    v_ask := true;
  elsif v_request.state = 'asked' and v_request.remote_id is null and v_request.capability_sha256 = decode(p_request ->> 'capability_sha256', 'hex') then
    -- Our own, after a commit that was not answered.
    v_ask := true;
  elsif v_request.state = 'asked' and v_request.remote_id is null then
    -- Whoever asked before died, or was cut off: a new capability, because nobody has the old one any more.
    v_previous := v_request.call_id;
    update millrace.parse_request r
       set asks = r.asks + 1, call_id = millrace.uuid_or_null(p_request ->> 'call_id'), job_id = p_job_id, generation = v_generation, parser = p_request ->> 'parser', capability_sha256 = decode(p_request ->> 'capability_sha256', 'hex')
     where r.file_id = v_request.file_id and r.run = v_request.run returning * into v_request;
    v_ask := true;
  elsif v_request.state = 'failed' and (v_request.generation, v_request.job_id) <> (v_generation, p_job_id) then
    update millrace.parse_request r
       set state = 'asked', reason = null, remote_id = null, sha256 = null, ended_at = null, asked_at = v_now, asks = 1, call_id = millrace.uuid_or_null(p_request ->> 'call_id'), job_id = p_job_id, generation = v_generation,
           parser = p_request ->> 'parser', capability_sha256 = decode(p_request ->> 'capability_sha256', 'hex'),
           deadline = v_now + make_interval(secs => (p_request ->> 'deadline_seconds')::double precision)
     where r.file_id = v_request.file_id and r.run = v_request.run returning * into v_request;
    v_ask := true;
  end if;
  return millrace.parse_json(v_request) || jsonb_build_object('ask', v_ask, 'previous_call_id', v_previous);
end;
$$;
