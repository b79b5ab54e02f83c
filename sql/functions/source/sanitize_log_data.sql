-- millrace.sanitize_log_data: data for a log, without what documents say (millrace.redact; T-09).
create or replace function millrace.sanitize_log_data(p_data jsonb) returns jsonb
  language sql immutable parallel safe security definer set search_path = pg_catalog, pg_temp
as $$
  select millrace.redact(p_data)
$$;
