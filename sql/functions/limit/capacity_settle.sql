-- millrace.capacity_settle: what settled jobs mean for their providers. Their slots end, their
-- tokens move from estimate to actual figure in the sub-buckets charged (p_actual null: the charge
-- stays, E08), and the outcomes feed the breaker in the order given: 'ok' and 'partial' close it,
-- 'retry' counts towards the threshold, 'blocked' opens it at once, 'throttled' makes everybody
-- wait until p_until; every other outcome says nothing about the provider, and 'unasked' that it
-- was not asked at all: what the claim took, request and tokens, goes back to the sub-buckets
-- charged. What a job that took a slot of its own (millrace.take_capacity) ends with is said of that
-- provider, and the one that its type is bound to gets back what the claim took there. Fence: the caller's; a job without a slot
-- moves no tokens. Providers are locked in the order of their ids.
create or replace function millrace.capacity_settle(
    p_job_ids uuid[], p_tokens uuid[], p_type_ids smallint[], p_outcomes text[], p_actual bigint[],
    p_until timestamptz[], p_reasons text[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_providers integer[];
  v_provider integer;
  v_row record;
  v_item record;
  v_at timestamptz;
  v_throttled timestamptz;
  v_state text;
  v_until timestamptz;
  v_failures integer;
  v_opens integer;
  v_reason text;
  v_counts boolean;
  v_elsewhere uuid[] := array(
    select s.job_id from millrace.provider_slot s join unnest(p_job_ids, p_tokens) d(job_id, token)
        on s.job_id = d.job_id and s.token = d.token and s.own);
begin
  select array_agg(distinct x.provider_id order by x.provider_id) into v_providers
    from (select p.provider_id
            from millrace.job_type t
            join millrace.api_rate_limits p
              on p.provider_name = t.provider_name and p.api_endpoint = t.api_endpoint
           where t.type_id = any (p_type_ids)
           union
          select s.provider_id from millrace.provider_slot s where s.job_id = any (p_job_ids)) x;
  if v_providers is null then
    return;
  end if;
  perform from millrace.api_rate_limits p
    where p.provider_id = any (v_providers) order by p.provider_id for no key update;

  foreach v_provider in array v_providers loop
    select p.last_grant_at, p.backpressure_delay_seconds, p.throttled_until, p.breaker_state,
           p.breaker_until, p.breaker_failures, p.breaker_threshold, p.breaker_cooldown,
           p.breaker_opens, p.breaker_reason
      into v_row from millrace.api_rate_limits p where p.provider_id = v_provider;
    v_at := greatest(millrace.now(), v_row.last_grant_at);
    v_throttled := v_row.throttled_until;
    v_until := v_row.breaker_until;
    v_state := case when v_row.breaker_state = 'open' and v_until <= v_at then 'half_open'
                    else v_row.breaker_state end;
    v_failures := v_row.breaker_failures;
    v_opens := v_row.breaker_opens;
    v_reason := v_row.breaker_reason;

    for v_item in
      with gone as (
        delete from millrace.provider_slot s
         using unnest(p_job_ids, p_tokens) d(job_id, token)
         where s.provider_id = v_provider and s.job_id = d.job_id and s.token = d.token
        returning s.job_id, s.token, s.acquired_at, s.estimated_tokens, s.minute_bucket,
                  s.hour_bucket, s.own),
      item as (
        select i.ord, case when e.unasked then 'unasked' else i.outcome end as outcome,
               i.until_at, i.reason, g.acquired_at, g.minute_bucket, g.hour_bucket,
               case when g.own then 0
                    when e.unasked then -g.estimated_tokens
                    else case when i.actual < 0 then 0 else i.actual end - g.estimated_tokens
                    end as more,
               case when e.unasked and not g.own then 1 else 0 end as back
          from unnest(p_job_ids, p_tokens, p_type_ids, p_outcomes, p_actual, p_until, p_reasons)
                 with ordinality i(job_id, token, type_id, outcome, actual, until_at, reason, ord)
          left join gone g on g.job_id = i.job_id and g.token = i.token
         cross join lateral (select i.outcome = 'unasked'
                                    or (i.job_id = any (v_elsewhere) and g.own is not true)
                                    as unasked) e
          left join millrace.job_type t on t.type_id = i.type_id
          left join millrace.api_rate_limits p
            on p.provider_name = t.provider_name and p.api_endpoint = t.api_endpoint
         where g.job_id is not null or p.provider_id = v_provider),
      settled as (
        update millrace.provider_bucket b
           set requests = greatest(b.requests - m.back, 0),
               tokens = greatest(b.tokens + m.more, 0)
          from (select w.time_window, w.bucket, sum(i.back)::bigint as back,
                       coalesce(sum(i.more), 0)::bigint as more
                  from item i
                 cross join lateral (values ('minute', i.minute_bucket), ('hour', i.hour_bucket))
                       w(time_window, bucket)
                 where i.more <> 0 or i.back > 0
                 group by w.time_window, w.bucket) m
         where b.provider_id = v_provider and b.time_window = m.time_window
           and b.bucket = m.bucket)
      select i.outcome, i.until_at, i.reason, i.acquired_at from item i order by i.ord
    loop
      -- A call that was sent before the breaker opened says nothing about the provider now.
      v_counts := v_state = 'closed'
                  or (v_state = 'half_open'
                      and (v_item.acquired_at is null or v_item.acquired_at >= v_until));
      if v_item.outcome in ('ok', 'partial') and v_counts then
        v_state := 'closed';
        v_until := null;
        v_failures := 0;
        v_opens := 0;
        v_reason := null;
      elsif v_item.outcome = 'throttled' then
        -- An absurd Retry-After must not close a provider for good.
        v_throttled := greatest(v_throttled, least(v_at + interval '24 hours',
          coalesce(v_item.until_at,
                   v_at + make_interval(secs => v_row.backpressure_delay_seconds))));
      elsif (v_item.outcome = 'retry' and v_counts)
            or (v_item.outcome = 'blocked' and v_state <> 'open') then
        v_failures := v_failures + 1;
        if v_item.outcome = 'blocked' or v_state = 'half_open'
           or v_failures >= v_row.breaker_threshold then
          v_state := 'open';
          v_until := v_at + greatest(v_row.breaker_cooldown,
            least(v_row.breaker_cooldown * power(2, least(v_opens, 20)), interval '10 minutes'));
          v_opens := v_opens + 1;
          v_reason := coalesce(v_item.reason, format('%s failures in a row', v_failures));
        end if;
      end if;
      if v_item.outcome = 'blocked' and v_state = 'open' and v_item.until_at is not null then
        v_until := greatest(v_until, least(v_item.until_at, v_at + interval '24 hours'));
      end if;
    end loop;

    if (v_state, v_until, v_failures, v_opens) is distinct from
       (v_row.breaker_state, v_row.breaker_until, v_row.breaker_failures, v_row.breaker_opens) then
      perform millrace.set_breaker(v_provider, v_state, v_until, v_failures, v_opens, v_reason);
    end if;
    if v_throttled is distinct from v_row.throttled_until then
      update millrace.api_rate_limits p
         set throttled_until = v_throttled, last_rate_limit_hit = v_at
       where p.provider_id = v_provider;
    end if;
    perform millrace.show_capacity(v_provider, v_at, false);
  end loop;
end;
$$;
