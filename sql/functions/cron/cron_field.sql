-- millrace.cron_field: the values that one field of a cron expression stands for, sorted. A field
-- is a list of items, each "*", a value or a range, with an optional step; "5/15" means from 5 to
-- the end. Names (jan, mon) stand for numbers. Raises MR012 naming the field.
create or replace function millrace.cron_field(p_field text, p_text text, p_low integer,
                                               p_high integer, p_names text[])
  returns integer[] language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_values integer[] := '{}';
  v_item text;
  v_parts text[];
  v_from integer;
  v_to integer;
  v_step integer;
begin
  foreach v_item in array string_to_array(p_text, ',') loop
    v_parts := regexp_match(v_item, '^(\*|[^-/*]+)(?:-([^-/*]+))?(?:/([^-/*]+))?$');
    if v_parts is null or (v_parts[1] = '*' and v_parts[2] is not null) then
      raise exception 'cron field %: "%" is not a value, a range or a step', p_field, v_item
        using errcode = 'MR012', hint = 'for example *, 5, 1-5, */15, 10-40/10, or a list of these';
    end if;
    v_from := case when v_parts[1] = '*' then p_low
                   else millrace.cron_value(p_field, v_parts[1], p_low, p_high, p_names) end;
    v_to := case when v_parts[2] is not null
                 then millrace.cron_value(p_field, v_parts[2], p_low, p_high, p_names)
                 when v_parts[1] = '*' or v_parts[3] is not null then p_high
                 else v_from end;
    -- Sunday closes a week as well as it opens one: fri-sun.
    if p_field = 'day of week' and v_parts[2] = 'sun' then
      v_to := 7;
    end if;
    if v_from > v_to then
      raise exception 'cron field %: range "%" ends before it begins', p_field, v_item
        using errcode = 'MR012';
    end if;
    v_step := 1;
    if v_parts[3] is not null then
      v_step := case when v_parts[3] ~ '^[0-9]{1,4}$' then v_parts[3]::integer end;
      if v_step is null or v_step not between 1 and p_high - p_low then
        raise exception 'cron field %: step "%" is not between 1 and %', p_field,
            v_parts[3], p_high - p_low
          using errcode = 'MR012';
      end if;
    end if;
    v_values := v_values || array(select generate_series(v_from, v_to, v_step));
  end loop;
  return array(select distinct case when p_field = 'day of week' then v % 7 else v end as value
                 from unnest(v_values) v order by value);
end;
$$;
