-- millrace.report_progress: progress of held jobs, 0 to 100, never backwards within one delivery. A job may be named several times: each is told, in this order, and the last one stays. A stale caller changes nothing.
create or replace function millrace.report_progress(p_worker_id text, p_items jsonb)
  returns table (job_id uuid, answer text, cancel_requested boolean)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  perform millrace.pin_claimed(p_worker_id, array_agg(millrace.uuid_or_null(e.item ->> 'job_id')), array_agg(millrace.uuid_or_null(e.item ->> 'token')))
     from jsonb_array_elements(p_items) e(item);
  return query
  with item as materialized (
    select millrace.uuid_or_null(e.item ->> 'job_id') as job_id, millrace.uuid_or_null(e.item ->> 'token') as token,
           least(100, greatest(0, (e.item ->> 'progress')::numeric))::smallint as progress, left(e.item ->> 'message', 500) as message,
           case when pg_column_size(e.item -> 'data') <= 8192 then e.item -> 'data' end as data, e.ord
      from jsonb_array_elements(p_items) with ordinality e(item, ord)),
  held as materialized (
    select l.job_id, l.token, l.progress, l.progress_message from millrace.lease l
     where l.job_id = any (array(select i.job_id from item i)) and l.worker_id = p_worker_id
       and exists (select from item i where i.job_id = l.job_id and i.token = l.token)
     order by l.job_id for no key update),
  told as materialized (
    select h.job_id, i.ord, greatest(h.progress, max(i.progress) over w) as progress, coalesce(i.message, h.progress_message) as message, i.data,
           row_number() over (partition by h.job_id order by i.ord desc) = 1 as last
      from held h join item i on i.job_id = h.job_id and i.token = h.token window w as (partition by h.job_id order by i.ord)),
  x as (
    update millrace.lease l
       set progress = t.progress, progress_message = t.message, progress_data = coalesce(t.data, l.progress_data)
      from told t where t.last and l.job_id = t.job_id
    returning l.job_id, l.token, l.tenant_id, l.queue_id, l.cancel_requested_at is not null as cancel),
  e as (
    insert into millrace.event (at, tenant_id, kind, queue_id, job_ids, data)
    select millrace.now(), x.tenant_id, 'job.progress', x.queue_id, array[x.job_id],
           jsonb_build_object('progress', t.progress, 'message', t.message) from x join told t on t.job_id = x.job_id order by t.ord)
  select i.job_id, case when x.job_id is not null then 'settled' else millrace.explain_stale(i.job_id, i.token) end, coalesce(x.cancel, false)
    from item i left join x on x.job_id = i.job_id and x.token = i.token;
end;
$$;
