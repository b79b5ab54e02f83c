-- millrace.advance_keys: lets the next jobs of serial and concurrency keys back into the line, as many as each key has room for. A key that
-- somebody judges at this moment gets a note for later instead.
create or replace function millrace.advance_keys(p_keys millrace.held_key[]) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_locked millrace.held_key[];
  v_busy millrace.held_key[];
  v_next uuid[];
begin
  if cardinality(p_keys) = 0 then
    return;
  end if;
  select array_agg(x.k) filter (where x.got), array_agg(x.k) filter (where not x.got) into v_locked, v_busy
    from (select row(k.*)::millrace.held_key as k, pg_try_advisory_xact_lock(millrace.key_lock(k.tenant_id, k.queue_id, k.wait_key)) as got
            from unnest(p_keys) k) x;
  if v_busy is not null then
    insert into millrace.handoff (kind, tenant_id, queue_id, wait_key)
    select case when left(k.wait_key, 2) = 's:' then 'serial' else 'concurrency' end, k.tenant_id, k.queue_id, k.wait_key from unnest(v_busy) k;
  end if;
  -- In a statement of its own: it must see what those who had the locks before have committed. Few keys have somebody who waits.
  v_locked := array(
    select row(k.*)::millrace.held_key from unnest(v_locked) k
     where exists (select from millrace.delayed d where d.queue_id = k.queue_id and d.tenant_id = k.tenant_id and d.wait_key = k.wait_key));
  if cardinality(v_locked) = 0 then
    return;
  end if;
  v_next := array(
    select n.job_id from unnest(v_locked) k
      cross join lateral (
        select d.job_id from millrace.delayed d
         where d.reason = 'serial' and d.job_id = (
                 select m.job_id from millrace.serial_member m
                  where m.tenant_id = k.tenant_id and m.queue_id = k.queue_id and m.serial_key = substr(k.wait_key, 3) order by m.seq limit 1)
           for update skip locked) n
     where left(k.wait_key, 2) = 's:'
       and not exists (select from millrace.lease l where l.queue_id = k.queue_id and l.tenant_id = k.tenant_id and l.lease_key = k.wait_key));
  v_next := v_next || array(
    select n.job_id from unnest(v_locked) k
      join millrace.queue q on q.queue_id = k.queue_id
      cross join lateral (
        select count(*) as running from millrace.lease l
         where l.queue_id = k.queue_id and l.tenant_id = k.tenant_id and l.lease_key = k.wait_key) r
      cross join lateral (
        select d.job_id from millrace.delayed d
         where d.queue_id = k.queue_id and d.tenant_id = k.tenant_id and d.wait_key = k.wait_key
         order by d.wait_seq limit greatest(0, coalesce(q.key_concurrency_max - r.running, 1000)) for update skip locked) n
     where left(k.wait_key, 2) = 'c:');
  perform millrace.promote_rows(v_next);
end;
$$;
