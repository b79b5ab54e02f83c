-- millrace.append_logs: log lines of held jobs; at most 1000 lines per delivery are kept, each cut at 8 KiB. Lines of a stale
-- delivery are dropped. Answers the number of lines kept.
create or replace function millrace.append_logs(p_worker_id text, p_items jsonb) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_kept integer;
begin
  perform millrace.pin_claimed(p_worker_id, array_agg(i.job_id), array_agg(i.token))
     from (select distinct millrace.uuid_or_null(e.item ->> 'job_id') as job_id, millrace.uuid_or_null(e.item ->> 'token') as token
             from jsonb_array_elements(p_items) e(item)) i;
  insert into millrace.job_log (job_id, tenant_id, delivery_count, at, level, message)
  select l.job_id, l.tenant_id, l.delivery_count,
         case when i.at_ms is not null and abs(i.at_ms - extract(epoch from n.now) * 1000) < 86400000 then to_timestamp(i.at_ms / 1000.0) else n.now end,
         case when i.level in ('debug', 'info', 'warn', 'error') then i.level else 'info' end, left(i.message, 8192)
    from (select millrace.uuid_or_null(e.item ->> 'job_id') as job_id, millrace.uuid_or_null(e.item ->> 'token') as token, e.item ->> 'level' as level,
                 coalesce(e.item ->> 'message', '') as message, (e.item ->> 'at_ms')::numeric as at_ms, e.i,
                 row_number() over (partition by e.item ->> 'job_id', e.item ->> 'token' order by e.i) as nth
            from jsonb_array_elements(p_items) with ordinality e(item, i)) i
    join millrace.lease l on l.job_id = i.job_id and l.token = i.token and l.worker_id = p_worker_id
    cross join (select millrace.now() as now) n
   where (select count(*) from (select from millrace.job_log g where g.job_id = l.job_id and g.delivery_count = l.delivery_count limit 1000) c) + i.nth <= 1000
   order by i.i;
  get diagnostics v_kept = row_count;
  return v_kept;
end;
$$;
