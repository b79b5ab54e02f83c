-- millrace.import_restore: puts rows of a source back as they were before their jobs were moved over; answers how many. A row that is not as
-- millrace.import_cross_off left it is not touched, and not counted. Runs with the rights of the caller.
create or replace function millrace.import_restore(p_source text, p_schema text, p_rows millrace.imported_job[]) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_table text := case p_source when 'guardian' then 'job_queue' when 'export' then 'export_jobs' when 'baseworker' then 'upload_jobs'
                                when 'pg-boss' then 'job' else millrace.import_table(p_schema, '{_private_jobs,jobs}', '{id}') end;
  v_class regclass := format('%I.%I', p_schema, v_table)::regclass;
  v_columns text[];
  v_match text := case p_source when 'baseworker' then 't.job_id = o.job_id' when 'pg-boss' then 't.id = o.id and t.name = o.name' else 't.id = o.id' end;
  v_marked text := case p_source when 'pg-boss' then $test$t.state = 'cancelled'$test$
                                 when 'baseworker' then $test$t.last_error ->> 'moved_to' = 'millrace'$test$ else $test$t.status = 'cancelled'$test$ end;
  v_inserted integer;
  v_updated integer := 0;
begin
  v_columns := array(select quote_ident(a.attname) from pg_attribute a
                      where a.attrelid = v_class and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum);
  execute format('insert into %1$s (%2$s) overriding system value
                  select %3$s from unnest($1) i cross join lateral jsonb_populate_record(null::%1$s, i.source_row) o where i.deleted',
                 v_class, array_to_string(v_columns, ', '), 'o.' || array_to_string(v_columns, ', o.')) using p_rows;
  get diagnostics v_inserted = row_count;
  if p_source <> 'graphile-worker' then
    -- What the mark changed, as far as the table has it.
    v_columns := array(select quote_ident(a.attname) from pg_attribute a
                        where a.attrelid = v_class and a.attnum > 0 and not a.attisdropped
                          and a.attname in ('status', 'state', 'completed_at', 'completed_on', 'completedon', 'error_details', 'error', 'error_message', 'last_error',
                                            'output', 'updated_at'));
    execute format('update %1$s t set %2$s from unnest($1) i cross join lateral jsonb_populate_record(null::%1$s, i.source_row) o
                     where not i.deleted and %3$s and %4$s',
                   v_class, (select string_agg(format('%1$s = o.%1$s', c), ', ') from unnest(v_columns) c), v_match, v_marked) using p_rows;
    get diagnostics v_updated = row_count;
  end if;
  return v_inserted + v_updated;
end;
$$;
