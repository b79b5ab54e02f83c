-- millrace.check_webhook_replay: whether a webhook may be acted on: its time is within 300 s, and its id is new to the tenant of the call; then it is on record with whatever else the transaction does (W-05). Of any number of
-- deliveries at once one is told true. Ids are remembered for retention.webhook_days. MR024 for an id that is none.
create or replace function millrace.check_webhook_replay(p_webhook_id text, p_timestamp bigint) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_tenant uuid := millrace.current_tenant();
begin
  if coalesce(octet_length(p_webhook_id), 0) not between 1 and 256 then
    raise exception 'webhook_id must have 1 to 256 bytes' using errcode = 'MR024';
  end if;
  return millrace.verify_timestamp(p_timestamp) and millrace.take_webhook('source:' || v_tenant, p_webhook_id, v_tenant, 'checked');
end;
$$;
