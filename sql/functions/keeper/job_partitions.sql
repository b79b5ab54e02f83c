-- millrace.job_partitions: the partitions of facts by suffix, with the bounds of their range as times.
create or replace function millrace.job_partitions() returns table (suffix text, starts_at timestamptz, ends_at timestamptz)
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select substr(c.relname, length('job_fact_') + 1),
         millrace.id_time(substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \(''([0-9a-f-]{36})''\)')::uuid),
         millrace.id_time(substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([0-9a-f-]{36})''\)')::uuid)
    from pg_class c join pg_inherits i on i.inhrelid = c.oid
   where i.inhparent = 'millrace.job_fact'::regclass and c.relname ~ '^job_fact_p[0-9]+$'
$$;
