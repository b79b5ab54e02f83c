-- millrace.retention: how long history, event or audit is kept: retention.<what>_minutes, or retention.<what>_days.
create or replace function millrace.retention(p_what text, p_default_days integer) returns interval
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(make_interval(mins => millrace.config_integer('retention.' || p_what || '_minutes', null)),
                    make_interval(days => millrace.config_integer('retention.' || p_what || '_days', p_default_days))));
end;
$$;
