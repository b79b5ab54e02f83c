-- What autovacuum spent a fifth of two busy cores on: counting ids in lists, and clearing the intake, which the keeper now cuts instead. Lock cost: each
-- table with payloads or lists of ids, for an instant. compat: rolling

alter table millrace.job_intake set (autovacuum_vacuum_threshold = 2000000, autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_threshold = 2000000000);

-- As millrace.spare_statistics does for partitions to come.
do $$
declare
  v_column record;
begin
  for v_column in
    select 'table' as kind, c.oid::regclass as owner, quote_ident(a.attname) as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'millrace'::regnamespace and c.relispartition and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
       and a.atttypid in ('uuid[]'::regtype, 'jsonb'::regtype, 'varbit'::regtype)
    union all
    select 'index', a.attrelid::regclass, a.attnum::text from pg_class c join pg_index i on i.indrelid = c.oid join pg_attribute a on a.attrelid = i.indexrelid
     where c.relnamespace = 'millrace'::regnamespace and c.relispartition and c.relkind = 'r' and i.indexprs is not null and i.indkey[a.attnum - 1] = 0
  loop
    execute format('alter %s %s alter column %s set statistics 0', v_column.kind, v_column.owner, v_column.name);
  end loop;
end;
$$;
