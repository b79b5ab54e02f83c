-- millrace.verify_webhook_origin: whether an address is one of those that webhooks may come from: webhook.allowed_addresses in system_configuration, addresses and networks with commas between them; none: any address (W-06). What
-- is no address never is. The server has a setting of its own of that name.
create or replace function millrace.verify_webhook_origin(p_request_ip text) returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_allowed text := (select c.config_value from millrace.system_configuration c where c.config_key = 'webhook.allowed_addresses');
  v_address inet;
begin
  begin
    v_address := p_request_ip::inet;
  exception when invalid_text_representation then
    return false;
  end;
  if masklen(v_address) <> (case family(v_address) when 4 then 32 else 128 end) then
    return false;
  end if;
  -- An IPv4 address may come in the clothes of IPv6.
  if family(v_address) = 6 and v_address << '::ffff:0:0/96' then
    v_address := '0.0.0.0'::inet + (v_address - '::ffff:0:0'::inet);
  end if;
  return coalesce(v_address is not null and (btrim(coalesce(v_allowed, '')) = '' or exists (
    select from unnest(string_to_array(v_allowed, ',')) n(network) where v_address <<= btrim(n.network)::inet)), false);
end;
$$;
