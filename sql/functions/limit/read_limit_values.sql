-- millrace.read_limit_values: the values of a limit as given by people, checked and in the form of
-- the columns. Raises MR017 for the first one that breaks a rule, naming field and rule. A
-- configured -1 becomes null (unlimited), an override keeps it, because there null means "no
-- override".
create or replace function millrace.read_limit_values(p_values jsonb, p_override boolean)
  returns jsonb
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_bad record;
begin
  if jsonb_typeof(p_values) is distinct from 'object' or p_values = '{}'::jsonb then
    raise exception 'p_values must be a JSON object with at least one field'
      using errcode = 'MR017', hint = 'for example {"requests_per_minute": 500}';
  end if;
  select e.key, c.message into v_bad
    from jsonb_each(p_values) e
    left join millrace.limit_fields() f on f.field = e.key and (f.overridable or not p_override)
    cross join lateral (select jsonb_typeof(e.value) as kind, e.value #>> '{}' as text) v
    cross join lateral (select case
      when f.field is null
        then 'is not a field of a limit' || case when p_override then ' override' else '' end
      when v.kind = 'null'
        then case when not f.nullable and not p_override then 'must not be null' end
      when f.kind = 'status' then
        case when v.kind <> 'string' or v.text not in ('active', 'disabled', 'maintenance')
             then 'must be active, disabled or maintenance' end
      when f.kind = 'duration' then
        case when extract(epoch from millrace.read_duration(e.value)) between f.low and f.high
             then null
             else format('must be a duration from %s to %s seconds, such as 30 or "30s"',
                         f.low, f.high) end
      when f.kind = 'fraction' then
        case when v.kind <> 'number' or v.text::numeric not between f.low and f.high
             then 'must be a number from 0 to 1' end
      when v.kind <> 'number' then format('must be a whole number from %s to %s', f.low, f.high)
      when v.text::numeric % 1 <> 0 or v.text::numeric not between f.low and f.high
        then format('must be a whole number from %s to %s%s', f.low, f.high,
                    case when f.kind = 'limit' then ' (-1: unlimited)' end)
      end as message) c
   where c.message is not null
   order by e.key limit 1;
  if found then
    raise exception '% %', v_bad.key, v_bad.message using errcode = 'MR017';
  end if;
  return (
    select jsonb_object_agg(e.key, case
             when jsonb_typeof(e.value) = 'null' then e.value
             when f.kind = 'duration' then to_jsonb(millrace.read_duration(e.value)::text)
             when f.kind = 'limit' and e.value = '-1'::jsonb and not p_override then 'null'::jsonb
             when f.kind in ('limit', 'number') then to_jsonb(trunc((e.value #>> '{}')::numeric))
             else e.value end)
      from jsonb_each(p_values) e join millrace.limit_fields() f on f.field = e.key);
end;
$$;
