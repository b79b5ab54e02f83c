-- millrace.expire_exports: removes exports past their time with their objects (X-22), each by itself: one that fails stops no other.
create or replace function millrace.expire_exports(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_id uuid;
  v_count integer := 0;
begin
  for v_id in
    select h.id from millrace.export_history h where h.expires_at < millrace.now() order by h.expires_at limit p_limit for update skip locked
  loop
    begin
      perform from millrace.drop_exports(array[v_id], 'Export expired');
      v_count := v_count + 1;
    exception when others then
      raise warning 'export % could not be removed and will be tried again: %', v_id, sqlerrm;
    end;
  end loop;
  return v_count;
end;
$$;
