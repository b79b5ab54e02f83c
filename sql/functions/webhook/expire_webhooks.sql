-- millrace.expire_webhooks: forgets ids of webhooks after retention.webhook_days; senders repeat for less.
create or replace function millrace.expire_webhooks(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_count integer;
begin
  delete from millrace.webhook_inbox w where (w.source, w.webhook_id) in (
    select o.source, o.webhook_id from millrace.webhook_inbox o
     where o.received_at < millrace.now() - make_interval(days => millrace.config_integer('retention.webhook_days', 7)) order by o.received_at limit p_limit);
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
