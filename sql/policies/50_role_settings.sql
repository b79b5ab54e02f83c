-- Settings of the engine's roles: a transaction that idles holds back the horizon of every queue table, so it ends after 10 s.
-- Set by the connected role (the owner may not), where it is allowed to; an operator's own value stays.
do $$
declare
  v_owner text := current_user;
  v_role text;
begin
  for v_role in
    select r.rolname from pg_catalog.pg_roles r
     where r.rolname in ('millrace_api', 'millrace_worker', 'millrace_keeper', 'millrace_reader')
       and not exists (select from pg_catalog.pg_db_role_setting s cross join unnest(s.setconfig) c
                        where s.setrole = r.oid and s.setdatabase = 0 and c like 'idle\_in\_transaction\_session\_timeout=%')
  loop
    begin
      if v_owner <> session_user then
        execute 'set local role none';
      end if;
      execute format('alter role %I set idle_in_transaction_session_timeout = %L', v_role, '10s');
    exception when insufficient_privilege or internal_error or unique_violation then
      -- Not allowed to, or another database of this server sets it at this moment: the next deploy tries again.
      raise notice 'role % keeps its settings: %', v_role, sqlerrm;
    end;
    if v_owner <> session_user then
      execute format('set local role %I', v_owner);
    end if;
  end loop;
end;
$$;
