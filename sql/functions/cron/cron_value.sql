-- millrace.cron_value: one number or name of a cron field; raises MR012 naming the field.
create or replace function millrace.cron_value(p_field text, p_text text, p_low integer,
                                               p_high integer, p_names text[])
  returns integer language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_value integer := array_position(p_names, p_text) - 1 + p_low;
begin
  if v_value is not null then
    return v_value;
  end if;
  if p_text !~ '^[0-9]{1,4}$' then
    raise exception 'cron field %: "%" is not a number%', p_field, p_text,
        case when p_names is null then ''
             else format(' or one of %s to %s', p_names[1], p_names[cardinality(p_names)]) end
      using errcode = 'MR012';
  end if;
  v_value := p_text::integer;
  if v_value not between p_low and p_high then
    raise exception 'cron field %: % is not between % and %', p_field, v_value, p_low, p_high
      using errcode = 'MR012';
  end if;
  return v_value;
end;
$$;
