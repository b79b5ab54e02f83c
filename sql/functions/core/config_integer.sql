-- millrace.config_integer: an integer of system_configuration, or the default where the key is missing. Values are
-- checked when they are written, so a stored value always casts.
create or replace function millrace.config_integer(p_key text, p_default integer) returns integer
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce((select c.config_value::integer from millrace.system_configuration c where c.config_key = p_key), p_default));
end;
$$;
