-- millrace.sweep_exports: the daily removal of exports (X-22): those that had expired at the latest 02:00 UTC (export.cleanup_minute of the day). Until then whoever asks for
-- one is told that it has expired (X-18). When it was last done does not matter: a keeper that was away at that time does it when it is back.
create or replace function millrace.sweep_exports(p_limit integer) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_offset interval := make_interval(mins => least(millrace.config_integer('export.cleanup_minute', 120), 1439));
begin
  return millrace.clear_exports(date_trunc('day', (millrace.now() at time zone 'utc') - v_offset) at time zone 'utc' + v_offset, p_limit);
end;
$$;
