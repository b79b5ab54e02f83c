-- millrace.advance_key: lets the next jobs of a serial or concurrency key back into the line, as many as the key has room for.
create or replace function millrace.advance_key(p_tenant uuid, p_queue_id smallint, p_key text) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_running integer;
  v_max integer;
  v_head uuid;
begin
  if not pg_try_advisory_xact_lock(hashtextextended(p_tenant::text || ':' || p_queue_id || ':' || p_key, 7077)) then
    insert into millrace.handoff (kind, tenant_id, queue_id, wait_key)
    values (case when left(p_key, 2) = 's:' then 'serial' else 'concurrency' end, p_tenant, p_queue_id, p_key);
    return;
  end if;
  select count(*) into v_running from millrace.lease l where l.queue_id = p_queue_id and l.tenant_id = p_tenant and l.lease_key = p_key;
  if left(p_key, 2) = 's:' then
    if v_running = 0 then
      select m.job_id into v_head from millrace.serial_member m
       where m.tenant_id = p_tenant and m.queue_id = p_queue_id and m.serial_key = substr(p_key, 3) order by m.seq limit 1;
      perform millrace.promote_rows(array(
        select d.job_id from millrace.delayed d where d.job_id = v_head and d.reason = 'serial' for update skip locked));
    end if;
    return;
  end if;
  select q.key_concurrency_max into v_max from millrace.queue q where q.queue_id = p_queue_id;
  perform millrace.promote_rows(array(
    select d.job_id from millrace.delayed d
     where d.queue_id = p_queue_id and d.tenant_id = p_tenant and d.wait_key = p_key
     order by d.wait_seq limit greatest(0, coalesce(v_max - v_running, 1000)) for update skip locked));
end;
$$;
