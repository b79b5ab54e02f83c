-- millrace.horizon: sessions, slots and prepared transactions that hold back vacuum, oldest first. While one does, dead rows of
-- finished jobs cannot be removed and every queue slows down.
create or replace function millrace.horizon()
  returns table (kind text, name text, pid integer, state text, age_seconds integer, xids bigint, hint text, dead_rows bigint, dead_table text)
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select h.kind, h.name, h.pid, h.state, h.age_seconds, h.xids, h.hint, d.rows, d.table_name from (
    select 'session' as kind, coalesce(nullif(a.application_name, ''), a.usename::text, 'unknown') as name, a.pid, a.state,
           extract(epoch from clock_timestamp() - coalesce(a.xact_start, a.backend_start))::integer as age_seconds,
           age(a.backend_xmin)::bigint as xids, format('select pg_terminate_backend(%s)', a.pid) as hint
      from pg_stat_activity a where a.backend_xmin is not null and a.pid <> pg_backend_pid() and a.backend_type = 'client backend'
    union all
    select 'replication slot', s.slot_name, s.active_pid, case when s.active then 'active' else 'inactive' end, null,
           greatest(age(s.xmin), age(s.catalog_xmin))::bigint, format('select pg_drop_replication_slot(%L)', s.slot_name)
      from pg_replication_slots s where s.xmin is not null or s.catalog_xmin is not null
    union all
    select 'prepared transaction', p.gid, null, 'prepared', extract(epoch from clock_timestamp() - p.prepared)::integer, age(p.transaction)::bigint,
           format('rollback prepared %L', p.gid) from pg_prepared_xacts p) h
    -- What it costs: dead rows of the engine that are kept, and where most of them are.
    cross join (select coalesce(sum(s.n_dead_tup), 0)::bigint as rows, (array_agg(s.relname::text order by s.n_dead_tup desc))[1] as table_name
                  from pg_stat_user_tables s where s.schemaname = 'millrace') d
   order by h.xids desc nulls last, h.age_seconds desc nulls last
$$;
