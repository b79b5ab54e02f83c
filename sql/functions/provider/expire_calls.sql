-- millrace.expire_calls: forgets single calls to providers after retention.call_days, and what was spent in a day after four hundred.
create or replace function millrace.expire_calls(p_limit integer) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_calls integer;
  v_days integer;
begin
  delete from millrace.provider_call c where c.call_id in (
    select o.call_id from millrace.provider_call o where o.started_at < v_now - make_interval(days => millrace.config_integer('retention.call_days', 90))
     order by o.started_at limit p_limit);
  get diagnostics v_calls = row_count;
  delete from millrace.provider_spend s where s.day < (v_now at time zone 'UTC')::date - 400;
  get diagnostics v_days = row_count;
  return v_calls + v_days;
end;
$$;
