-- millrace.config_bigint: a large whole number of system_configuration, or the default where the key is missing.
create or replace function millrace.config_bigint(p_key text, p_default bigint) returns bigint
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce((select c.config_value::bigint from millrace.system_configuration c where c.config_key = p_key), p_default);
end;
$$;
