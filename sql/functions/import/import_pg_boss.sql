-- millrace.import_pg_boss: live jobs of pg-boss 9 and newer (before 10 its columns have no underscores); otherwise as millrace.import_guardian.
-- What its policies promise of a key is kept: one job waiting becomes a dedupe key, one at a time a serial key; while a job of such a key
-- runs in pg-boss the others of the key stay.
create or replace function millrace.import_pg_boss(p_schema text, p_map jsonb, p_limit integer, p_skip text[], p_skip_types text[])
  returns setof millrace.import_row language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_table text := millrace.import_table(p_schema, '{job}', '{id,name,state,priority,data}');
  v_has text[] := array(select a.attname::text from pg_attribute a where a.attrelid = format('%I.%I', p_schema, v_table)::regclass and a.attnum > 0);
  v_old boolean := 'startafter' = any (v_has);
  v_keyed boolean := 'policy' = any (v_has);
  v_flows boolean := 'blocked' = any (v_has);
  v_start text := case when v_old then 'startafter' else 'start_after' end;
  v_created text := case when v_old then 'createdon' else 'created_on' end;
  v_key text := case when v_old then 'singletonkey' else 'singleton_key' end;
  -- Why a job stays, in terms of its row t.
  v_reason text := concat(
    $case$case when t.state = 'active' then 'running' when t.name like '\_\_pgboss\_\_%' or t.name like '\_\_state\_\_%' then 'of pg-boss itself'$case$,
    format($case$ when t.%I <= millrace.now() then 'past its retention'$case$, case when v_old then 'keepuntil' else 'keep_until' end),
    case when v_flows then $case$ when t.blocked then 'waits for other jobs' when t.blocking then 'other jobs wait for it'$case$ end,
    case when v_keyed then format($case$ when t.policy in ('singleton', 'stately', 'key_strict_fifo') and exists (
           select from %1$I.%2$I o where o.name = t.name and coalesce(o.%3$I, '') = coalesce(t.%3$I, '') and o.policy = t.policy
              and (o.state = 'active' or (o.policy = 'key_strict_fifo' and o.state = 'failed'))) then 'its key is busy'$case$, p_schema, v_table, v_key) end,
    ' end');
begin
  perform millrace.import_table(p_schema, '{job}', array[v_start, v_created, v_key]);
  return query execute format($sql$
    with picked as materialized (
      select to_jsonb(t) as r, %3$s as reason from %1$I.%2$I t
       where t.state in ('created', 'retry'%4$s) and ($2 is null or not t.id::text = any ($2)) and ($3 is null or not t.name = any ($3)) %5$s
       order by %9$s t.%6$I > millrace.now(), t.priority desc, t.%7$I, t.id %8$s)
    select p.r ->> 'name', p.r ->> 'id', coalesce(f.created_at, '-infinity'), null::uuid,
           case when f.started_at is null then 0 else f.retries + 1 end, f.retries_max + 1,
           coalesce(p.reason, case when not millrace.import_fits(p.r -> 'data') then 'payload too large (MR004)' end),
           jsonb_build_object('id', millrace.uuid_or_null(p.r ->> 'id'),
             'payload', case when millrace.import_fits(p.r -> 'data') then millrace.import_payload(p.r -> 'data') end,
             'priority', millrace.import_rank($5, (p.r ->> 'priority')::integer), 'scheduled_at', f.start_at,
             'run_timeout_seconds', case when f.expire_after is not null then least(greatest(f.expire_after, 0.01), 604800) end,
             'dedupe_key', case when f.policy in ('short', 'stately', 'exclusive') then coalesce(f.key, p.r ->> 'name') end,
             'serial_key', case when f.policy in ('singleton', 'stately', 'key_strict_fifo') then concat(p.r ->> 'name', ':', f.key) end,
             'concurrency_key', case when f.policy is null or f.policy not in ('singleton', 'stately', 'key_strict_fifo') then p.r ->> 'group_id' end,
             'correlation_id', left(p.r #>> '{data,correlation_id}', 200)),
           case when $4 = 'delete' then p.r else p.r - 'data' end
      from picked p
      cross join lateral (select coalesce(p.r ->> 'start_after', p.r ->> 'startafter') as start_at,
                                 coalesce(p.r ->> 'created_on', p.r ->> 'createdon')::timestamptz as created_at,
                                 coalesce(p.r ->> 'started_on', p.r ->> 'startedon') as started_at,
                                 coalesce(p.r ->> 'retry_count', p.r ->> 'retrycount')::integer as retries,
                                 coalesce(p.r ->> 'retry_limit', p.r ->> 'retrylimit')::integer as retries_max,
                                 coalesce((p.r ->> 'expire_seconds')::numeric,
                                   extract(epoch from coalesce(p.r ->> 'expire_in', p.r ->> 'expirein')::interval)) as expire_after,
                                 nullif(coalesce(p.r ->> 'singleton_key', p.r ->> 'singletonkey'), '') as key, p.r ->> 'policy' as policy) f $sql$,
    p_schema, v_table, v_reason, case when p_limit is null then $list$, 'active'$list$ else '' end,
    case when p_limit is not null then format('and (%s) is null', v_reason) else '' end, v_start, v_created,
    case when p_limit is not null then 'limit $1 for update of t skip locked' else '' end,
    -- Strictly first come, first served: whatever is due, and whatever its priority.
    case when v_keyed then format($case$case when t.policy = 'key_strict_fifo' then t.%I end,$case$, v_created) else '' end)
    using p_limit, p_skip, p_skip_types, p_map ->> 'rows', (p_map ->> 'priority')::integer;
end;
$$;
