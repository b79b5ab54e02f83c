-- millrace.arm_wake: this queue's workers would like a notification. Never waits for an enqueuing transaction.
create or replace function millrace.arm_wake(p_queue_id smallint) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from millrace.wake w where w.queue_id = p_queue_id) then
    insert into millrace.wake (queue_id, armed) values (p_queue_id, true) on conflict do nothing;
    return;
  end if;
  update millrace.wake w set armed = true
    from (select k.queue_id from millrace.wake k where k.queue_id = p_queue_id and not k.armed for update skip locked) s
   where w.queue_id = s.queue_id;
end;
$$;
