-- millrace.take_webhook: whether this id is seen for the first time, in the transaction of its effect: of any number of deliveries at once one is answered true (H02, W-05).
create or replace function millrace.take_webhook(p_source text, p_webhook_id text, p_tenant uuid, p_effect text) returns boolean
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  insert into millrace.webhook_inbox (source, webhook_id, tenant_id, effect, received_at) values (p_source, p_webhook_id, p_tenant, p_effect, millrace.now())
  on conflict (source, webhook_id) do nothing;
  return found;
end;
$$;
