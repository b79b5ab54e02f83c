-- millrace.spare_statistics: a new partition keeps no statistics of payloads and lists of ids: to count a thousand ids a row took autovacuum longer
-- than all its other work, and no plan asks for them.
create or replace function millrace.spare_statistics(p_table regclass) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_column record;
begin
  for v_column in
    select 'table' as kind, a.attrelid::regclass as owner, quote_ident(a.attname) as name from pg_attribute a
     where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped and a.atttypid in ('uuid[]'::regtype, 'jsonb'::regtype, 'varbit'::regtype)
    union all
    select 'index', a.attrelid::regclass, a.attnum::text from pg_index i join pg_attribute a on a.attrelid = i.indexrelid
     where i.indrelid = p_table and i.indexprs is not null and i.indkey[a.attnum - 1] = 0
  loop
    execute format('alter %s %s alter column %s set statistics 0', v_column.kind, v_column.owner, v_column.name);
  end loop;
end;
$$;
