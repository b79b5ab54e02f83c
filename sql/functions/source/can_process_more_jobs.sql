-- millrace.can_process_more_jobs: whether an export could start now, as far as the queue's concurrency is concerned. A hint for
-- clients; the claim decides for itself.
create or replace function millrace.can_process_more_jobs() returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select q.paused_at is null
         and (q.concurrency_max is null
              or (select count(*) from millrace.lease l where l.queue_id = q.queue_id) < q.concurrency_max)
    from millrace.queue q where q.queue = 'export'
$$;
