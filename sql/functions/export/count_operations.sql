-- millrace.count_operations: counts orders of a user, and refuses with MR044 what is more than a day (UTC) has (L-18). The caller holds the user's lock.
create or replace function millrace.count_operations(p_tenant uuid, p_user_id uuid, p_count integer) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_day date := (v_now at time zone 'utc')::date;
  v_max integer := millrace.config_integer('export.operations_per_day', 100);
  v_operations integer;
begin
  insert into millrace.export_usage as u (tenant_id, user_id, day, operations) values (p_tenant, p_user_id, v_day, p_count)
  on conflict (tenant_id, user_id) do update set day = excluded.day, operations = excluded.operations + case when u.day = excluded.day then u.operations else 0 end
  returning u.operations into v_operations;
  if v_operations > v_max then
    raise exception 'Daily export limit reached (% of % used). Try again tomorrow.', v_operations - p_count, v_max
      using errcode = 'MR044', detail = ceil(extract(epoch from date_trunc('day', v_now, 'utc') + interval '24 hours' - v_now))::integer::text;
  end if;
end;
$$;
