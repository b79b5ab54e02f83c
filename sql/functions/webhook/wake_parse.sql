-- millrace.wake_parse: somebody who knows the capability of a parse says that something happened to it. That is all it says: the job looks for itself, now instead of later. Answers 'woken',
-- 'already' (the id was seen, or nobody waits any more) or 'unknown' (no such capability); the first two are on record.
create or replace function millrace.wake_parse(p_capability_sha256 bytea, p_webhook_id text) returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_request millrace.parse_request;
  v_waits boolean;
begin
  select r.* into v_request from millrace.parse_request r where r.capability_sha256 = p_capability_sha256 for update;
  if not found then
    return 'unknown';
  end if;
  v_waits := v_request.state in ('asked', 'waiting') and millrace.place_of(v_request.job_id) not in ('final', 'not_found');
  if not millrace.take_webhook('parse:' || v_request.job_id, p_webhook_id, v_request.tenant_id, case when v_waits then 'woken' else 'ignored' end) or not v_waits then
    return 'already';
  end if;
  perform millrace.wake_job(v_request.job_id, 'Woken by a webhook');
  return 'woken';
end;
$$;
