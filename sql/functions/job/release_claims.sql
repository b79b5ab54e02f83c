-- millrace.release_claims: what a job that leaves its lease or ends gives up: dedupe key, place in a serial key, concurrency of a key,
-- provider capacity; and the notes to millrace.advance about batches and dependents. Waits for nobody but on the provider rows.
create or replace function millrace.release_claims(p_rows millrace.moving[], p_from text) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys millrace.held_key[];
  v_limited smallint[];
begin
  if exists (select from unnest(p_rows) r where r.flags & 1 <> 0 and r.final_status is not null) then
    delete from millrace.dedupe_key k using unnest(p_rows) r, millrace.job_fact f
     where r.flags & 1 <> 0 and r.final_status is not null and f.job_id = r.job_id
       and k.tenant_id = f.tenant_id and k.type_id = f.type_id and k.dedupe_key = f.dedupe_key and k.job_id = r.job_id;
  end if;
  if exists (select from unnest(p_rows) r where r.flags & 2 <> 0 and r.final_status is not null) then
    with gone as (
      delete from millrace.serial_member m using unnest(p_rows) r
       where r.flags & 2 <> 0 and r.final_status is not null and m.job_id = r.job_id
      returning m.tenant_id, m.queue_id, m.serial_key)
    select array_agg(distinct (g.tenant_id, g.queue_id, 's:' || g.serial_key)::millrace.held_key) into v_keys from gone g;
  end if;
  -- The next of a key follows at once where nobody else judges the key; else advance_keys leaves a note. A serial key may also be let
  -- go only until a retry: an earlier job may have come to wait for it meanwhile.
  v_limited := array(select q.queue_id from millrace.queue q where q.key_concurrency_max is not null);
  v_keys := array(
    select k from unnest(v_keys) k
    union
    select (r.tenant_id, r.queue_id, r.lease_key)::millrace.held_key
      from unnest(p_rows) r where (left(r.lease_key, 2) = 'c:' and r.queue_id = any (v_limited)) or (left(r.lease_key, 2) = 's:' and r.final_status is null)
    order by 1);
  perform millrace.advance_keys(v_keys);
  if exists (select from unnest(p_rows) r where r.flags & 8 <> 0 and r.final_status is not null) then
    insert into millrace.handoff (kind, tenant_id, batch_id, completed, failed, cancelled)
    select 'batch', r.tenant_id, f.batch_id, count(*) filter (where r.final_status = 'completed'),
           count(*) filter (where r.final_status = 'failed'), count(*) filter (where r.final_status = 'cancelled')
      from unnest(p_rows) r join millrace.job_fact f on f.job_id = r.job_id
     where r.flags & 8 <> 0 and r.final_status is not null group by r.tenant_id, f.batch_id;
  end if;
  perform millrace.note_dependents(array(select r.job_id from unnest(p_rows) r where r.final_status is not null));
  if p_from = 'leased' and exists (
      select from unnest(p_rows) r join millrace.job_type t on t.type_id = r.type_id
       where t.provider_name is not null or exists (select from millrace.provider_slot s where s.job_id = r.job_id and s.own)) then
    -- A tenant whose budget is used up, a worker that cannot, what waits for our own limits, and what failed before its turn say nothing about the provider: nobody asked it. Whose error says so may
    -- have asked before that in the same delivery.
    perform millrace.capacity_settle(array_agg(r.job_id), array_agg(r.token), array_agg(r.type_id),
                                     array_agg(case when r.flags & 128 <> 0 then 'unasked'
                                                    when r.error -> 'asked' = 'false' then 'handback'
                                                    -- Older workers say it of jobs of pipelines by these words alone; and who has answered has, whatever the answer is worth.
                                                    when (r.outcome in ('blocked', 'throttled') and r.error ->> 'error_type' in ('over_budget', 'not_here', 'held_up')
                                                          or r.outcome = 'retry' and r.error ->> 'error_type' = 'invalid_answer')
                                                         and not r.error ? 'asked' and exists (select from millrace.job_fact f where f.job_id = r.job_id and f.pipeline is not null)
                                                    then 'handback'
                                                    else r.outcome end),
                                     array_agg(r.actual_tokens), array_agg(r.until_at),
                                     array_agg(coalesce(r.error ->> 'message', r.error ->> 'error_type')))
       from unnest(p_rows) r join millrace.job_type t on t.type_id = r.type_id
      where t.provider_name is not null or exists (select from millrace.provider_slot s where s.job_id = r.job_id and s.own);
  end if;
end;
$$;
