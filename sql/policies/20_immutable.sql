-- What never changes, refused by triggers on update and delete only, so that inserts cost nothing. A trigger that is
-- there already is left alone: creating it would lock a busy table.
do $$
declare
  v_wanted record;
begin
  for v_wanted in
    select * from (values
      ('audit',       'audit_immutable',       'update or delete', 'millrace.refuse_change(''audit'')'),
      ('audit_seal',  'audit_seal_immutable',  'update or delete', 'millrace.refuse_change(''audit_seal'')'),
      ('job_fact',    'job_fact_immutable',    'update',           'millrace.refuse_change(''job_fact'')'),
      ('claim',       'claim_immutable',       'update or delete', 'millrace.refuse_change(''claim'')'),
      ('claim_done',  'claim_done_immutable',  'update or delete', 'millrace.refuse_change(''claim_done'')'),
      ('attempt',     'attempt_immutable',     'update',           'millrace.refuse_change(''attempt'')'),
      ('job_history', 'job_history_immutable', 'update',           'millrace.refuse_rewrite()'),
      ('job_history', 'job_history_undeleted', 'delete',           'millrace.refuse_change(''job_history'')')
    ) as w (table_name, trigger_name, events, action)
    where not exists (select from pg_catalog.pg_trigger t
                       where t.tgrelid = ('millrace.' || w.table_name)::regclass and t.tgname = w.trigger_name)
  loop
    execute format('create trigger %I before %s on millrace.%I for each row execute function %s',
                   v_wanted.trigger_name, v_wanted.events, v_wanted.table_name, v_wanted.action);
  end loop;
end;
$$;
