-- millrace.metrics_snapshot: everything /metrics shows of the database, as (metric, label, label_value, value). Labels are queues, providers and states:
-- what operators named, never a job, a tenant or a document.
create or replace function millrace.metrics_snapshot() returns table (metric text, label text, label_value text, value double precision)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
begin
  return query
  select m.metric, 'queue', l.queue, m.value from millrace.queue_load() l
    cross join lateral (values ('queue_ready', l.ready::double precision), ('queue_delayed', l.delayed::double precision), ('queue_leased', l.leased::double precision),
      ('queue_demand', l.demand::double precision), ('queue_oldest_age_seconds', l.oldest_age_s), ('queue_ended_per_second', l.per_second),
      ('queue_paused', case when l.paused then 1 else 0 end::double precision)) m(metric, value);
  return query
  select m.metric, 'queue', c.queue, m.value::double precision
    from (select k.queue, sum(k.enqueued) as enqueued, sum(k.completed) as completed, sum(k.failed) as failed, sum(k.cancelled) as cancelled, sum(k.redriven) as redriven
            from millrace.queue_counts() k group by k.queue) c
    cross join lateral (values ('jobs_enqueued_total', c.enqueued), ('jobs_completed_total', c.completed), ('jobs_failed_total', c.failed),
      ('jobs_cancelled_total', c.cancelled), ('jobs_redriven_total', c.redriven)) m(metric, value);
  return query
  select m.metric, 'provider', p.provider_name || ':' || p.api_endpoint, m.value::double precision
    from millrace.api_rate_limits p
    cross join lateral (values ('provider_active_requests', p.active_requests::bigint), ('provider_limit_refusals_total', p.rate_limit_violations),
      ('provider_breaker_open', case p.breaker_state when 'closed' then 0 else 1 end::bigint), ('provider_requests_minute', p.current_requests_minute),
      ('provider_tokens_minute', p.current_tokens_minute), ('provider_limit_minute', p.requests_per_minute::bigint)) m(metric, value)
   where m.value is not null;
  return query
  select 'workers', 'state', s.state, count(*)::double precision
    from millrace.worker w
    cross join lateral (select case when w.lease_until <= v_now then 'silent' when w.draining then 'draining' else 'live' end as state) s group by s.state;
  return query select 'worker_slots', null::text, null::text, coalesce(sum(w.slots), 0)::double precision from millrace.worker w where w.lease_until > v_now;
  return query select 'uploads_open', null::text, null::text, count(*)::double precision from millrace.upload u where u.state = 'open' and u.expires_at > v_now;
  return query select 'handoff_notes', null::text, null::text, (select count(*) from (select from millrace.handoff limit 10000) h)::double precision;
  -- Rows in the tables where work waits for somebody to take it on; how far above ten thousand they are says nothing more.
  return query
  select 'buffer_table_sizes', 'table', b.name, b.size::double precision
    from (values ('handoff', (select count(*) from (select from millrace.handoff limit 10000) h)),
                 ('orphan_note', (select count(*) from (select from millrace.orphan_note limit 10000) o)),
                 -- B-23: what is being ingested, and what was left; the keeper removes it.
                 ('document_chunk_buffer', (select count(*) from (select from millrace.document_chunk_buffer limit 10000) c)),
                 ('document_vector_buffer', (select count(*) from (select from millrace.document_vector_buffer limit 10000) v)),
                 ('upload_part', (select count(*) from (select from millrace.upload_part limit 10000) u))) b(name, size);
  return query select 'audit_unsealed_seconds', null::text, null::text, coalesce(extract(epoch from v_now - (
    select a.at from millrace.audit a, millrace.audit_seal_state s where (a.xid, a.audit_id) > (s.sealed_xid, s.sealed_audit_id) order by a.xid, a.audit_id limit 1)), 0)::double precision;
  return query select 'keeper_silent_seconds', null::text, null::text, coalesce(greatest(extract(epoch from v_now - (
    select max(k.lease_until) from millrace.keeper_lease k)), 0), 0)::double precision;
end;
$$;
