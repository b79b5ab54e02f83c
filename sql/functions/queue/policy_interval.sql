-- millrace.policy_interval: a duration of a policy: a number of seconds, or text such as '30 s', '5 min', '1 hour'.
create or replace function millrace.policy_interval(p_value jsonb, p_field text) returns interval
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_value is null or jsonb_typeof(p_value) = 'null' then
    return null;
  elsif jsonb_typeof(p_value) = 'number' then
    return make_interval(secs => (p_value #>> '{}')::double precision);
  end if;
  return (p_value #>> '{}')::interval;
exception when others then
  raise exception '% must be a number of seconds or an interval such as 30 s', p_field using errcode = 'MR017';
end;
$$;
