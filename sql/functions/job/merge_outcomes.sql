-- millrace.merge_outcomes: jobs that were taken from their holders, with the outcomes these gave: of several for one delivery the first.
-- An export that was told to stop ends cancelled, also where its file is made (X-20): whoever was answered that it is cancelled never finds it. Other jobs that have succeeded or failed
-- for good keep their outcome.
-- With plans of its own: two lists of thousands are joined by hashing, or the time grows with their product.
create or replace function millrace.merge_outcomes(p_rows millrace.moving[], p_items millrace.moving[]) returns millrace.moving[]
  language plpgsql stable set search_path = pg_catalog, pg_temp set enable_hashjoin = on set enable_nestloop = off
as $$
begin
  return array(
    select row(c.job_id, c.tenant_id, c.queue_id, c.type_id, c.priority, c.flags | coalesce(i.flags, 0::smallint), c.generation, c.attempt, c.delivery_count,
               c.crash_count + i.crash_count, c.suspect_count, c.snooze_count, c.born_at, null, c.token, c.worker_id, c.started_at, c.lease_key,
               c.ready_seq, c.progress, c.progress_data, c.cancel_reason,
               case when s.stopped then 'cancelled' else i.outcome end, i.charged, case when not s.stopped then i.result end, i.error, i.carry, i.actual_tokens, i.until_at, null,
               i.final_reason, null, null)::millrace.moving
      from unnest(p_rows) c
      join (select distinct on (u.job_id, u.token) u.* from unnest(p_items) with ordinality u order by u.job_id, u.token, u.ordinality) i
        on i.job_id = c.job_id and i.token = c.token
      cross join lateral (
        select c.cancel_reason is not null and i.outcome in ('ok', 'permanent')
               and exists (select from millrace.job_type t where t.type_id = c.type_id and t.job_type = 'export_pdf') as stopped) s
     order by c.job_id);
end;
$$;
