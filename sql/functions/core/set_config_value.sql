-- millrace.set_config_value: change one configuration key; typed by the key's known values, audited.
create or replace function millrace.set_config_value(p_key text, p_value text) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_old text;
begin
  select c.config_value into v_old from millrace.system_configuration c where c.config_key = p_key for update;
  if not found then
    raise exception 'configuration key % does not exist', p_key
      using errcode = 'MR020', hint = 'millrace.system_configuration lists the keys';
  end if;
  update millrace.system_configuration c set config_value = p_value, updated_at = millrace.now() where c.config_key = p_key;
  perform millrace.audit_policy('system_configuration', p_key, jsonb_build_object('config_value', v_old),
                                jsonb_build_object('config_value', p_value), 'Configuration changed');
end;
$$;
