-- millrace.delete_cron: removes a cron entry of the tenant; MR024 where there is none. Jobs it
-- enqueued stay.
create or replace function millrace.delete_cron(p_name text) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old record;
begin
  delete from millrace.cron c
   where c.tenant_id = millrace.current_tenant() and c.name = p_name
  returning c.cron_id, c.name, c.schedule, c.time_zone into v_old;
  if not found then
    raise exception 'cron entry "%" does not exist', left(coalesce(p_name, ''), 200)
      using errcode = 'MR024';
  end if;
  perform millrace.audit_policy('cron', v_old.cron_id::text, to_jsonb(v_old), null,
                                'Cron entry deleted');
end;
$$;
