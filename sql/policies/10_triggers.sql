-- Triggers whose functions live in sql/functions. Idempotent.
create or replace trigger system_configuration_check before insert or update on millrace.system_configuration
  for each row execute function millrace.check_configuration();

drop trigger if exists job_intake_rows on millrace.job_intake;
create trigger job_intake_rows after insert on millrace.job_intake
  referencing new table as new_rows for each statement execute function millrace.intake_rows();
-- Also for replicas and restores: no row stays that millrace.empty_intake could lose.
alter table millrace.job_intake enable always trigger job_intake_rows;

-- Made once: to make one anew would lock a busy table.
do $$
declare
  v_wanted record;
begin
  for v_wanted in
    select * from (values
      ('storage_object', 'storage_object_added',   'insert', 'new table as new_rows', 'millrace.count_objects()'),
      ('storage_object', 'storage_object_changed', 'update', 'old table as old_rows new table as new_rows', 'millrace.count_objects()'),
      ('storage_object', 'storage_object_removed', 'delete', 'old table as old_rows', 'millrace.count_objects()'),
      ('upload_part',    'upload_part_added',      'insert', 'new table as new_rows', 'millrace.count_parts()'),
      ('upload_part',    'upload_part_removed',    'delete', 'old table as old_rows', 'millrace.count_parts()'),
      ('artifact',       'artifact_removed',       'delete', 'old table as old_rows', 'millrace.note_artifacts()'),
      ('page_result',    'page_result_changed',    'update', 'old table as old_rows', 'millrace.note_artifacts()'),
      ('page_result',    'page_result_removed',    'delete', 'old table as old_rows', 'millrace.note_artifacts()'),
      ('document_output', 'document_output_changed', 'update', 'old table as old_rows', 'millrace.note_artifacts()'),
      ('document_output', 'document_output_removed', 'delete', 'old table as old_rows', 'millrace.note_artifacts()'),
      ('parse_request',  'parse_request_changed',  'update', 'old table as old_rows new table as new_rows', 'millrace.note_parse_text()'),
      ('parse_request',  'parse_request_removed',  'delete', 'old table as old_rows', 'millrace.note_artifacts()'),
      ('attempt',        'attempt_added',          'insert', 'new table as new_rows', 'millrace.note_failures()'),
      ('audit_seal',     'audit_seal_trimmed',     'delete', 'old table as old_rows', 'millrace.check_trim()'),
      ('shell_files',    'shell_files_removed',    'delete', 'old table as old_rows', 'millrace.release_objects()')
    ) as w (table_name, trigger_name, event, tables, action)
    where not exists (select from pg_catalog.pg_trigger t
                       where t.tgrelid = ('millrace.' || w.table_name)::regclass and t.tgname = w.trigger_name)
  loop
    execute format('create trigger %I after %s on millrace.%I referencing %s for each statement execute function %s',
                   v_wanted.trigger_name, v_wanted.event, v_wanted.table_name, v_wanted.tables, v_wanted.action);
  end loop;
end;
$$;
