-- millrace.inherit_parse: text that was paid for, and arrived for a run of the document that had ended, becomes that of the run that goes on: where nothing has been asked for in it, and its call was for the same content,
-- parser and version (p_request: parser, request_sha256). What its own job had and could not read is not taken: it is asked for anew. Of several runs the newest counts. Null: there is none. The caller holds the document.
create or replace function millrace.inherit_parse(p_document millrace.document, p_job_id uuid, p_generation integer, p_request jsonb) returns millrace.parse_request
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_before millrace.parse_request;
  v_request millrace.parse_request;
begin
  select r.* into v_before from millrace.parse_request r where r.file_id = p_document.file_id and r.run < p_document.run order by r.run desc limit 1 for update;
  if v_before.state is distinct from 'arrived' or v_before.sha256 is null or v_before.parser is distinct from p_request ->> 'parser'
     or not exists (select from millrace.provider_call c where c.call_id = v_before.call_id and c.request_sha256 = decode(p_request ->> 'request_sha256', 'hex'))
     or exists (select from millrace.job_history h where h.job_id = v_before.job_id and h.finished_at >= v_before.ended_at
                   and h.error ->> 'error_type' in ('content_missing', 'no_text', 'internal')) then
    return null;
  end if;
  -- Its capability is one that nobody has: nothing is waited for.
  insert into millrace.parse_request (file_id, run, tenant_id, job_id, parser, remote_id, capability_sha256, state, sha256, asked_at, deadline, ended_at, asks, generation, call_id)
  values (p_document.file_id, p_document.run, p_document.tenant_id, p_job_id, v_before.parser, v_before.remote_id, sha256(v_before.capability_sha256), 'arrived', v_before.sha256, v_before.asked_at, v_before.deadline,
          v_before.ended_at, v_before.asks, p_generation, v_before.call_id)
  returning * into v_request;
  update millrace.parse_request r set sha256 = null where r.file_id = v_before.file_id and r.run = v_before.run;
  return v_request;
end;
$$;
