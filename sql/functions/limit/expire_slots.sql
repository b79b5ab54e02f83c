-- millrace.expire_slots: the keeper's sweep: deletes up to p_limit dead slots and lets the display
-- columns of idle providers fall. Providers that somebody holds are skipped: the holder sweeps them
-- itself.
create or replace function millrace.expire_slots(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
  v_swept integer := 0;
  v_at timestamptz;
begin
  if p_limit is null or p_limit < 1 then
    raise exception 'p_limit must be at least 1' using errcode = 'MR024';
  end if;
  for v_row in
    select p.provider_id, p.last_grant_at
      from millrace.api_rate_limits p
     where p.active_requests > 0 or p.current_requests_minute > 0 or p.current_requests_hour > 0
        or exists (select from millrace.provider_slot s where s.provider_id = p.provider_id)
     order by p.provider_id
       for no key update skip locked
  loop
    exit when v_swept >= p_limit;
    v_at := greatest(millrace.now(), v_row.last_grant_at);
    v_swept := v_swept + millrace.sweep_slots(v_row.provider_id, v_at, p_limit - v_swept);
    perform millrace.show_capacity(v_row.provider_id, v_at, false);
  end loop;
  return v_swept;
end;
$$;
