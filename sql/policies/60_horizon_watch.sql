-- The keeper watches who holds the horizon back. PostgreSQL shows what other sessions do only to members of pg_read_all_stats, so the
-- keeper's role becomes one, where the connected role may grant that; elsewhere the watch sees the engine's own sessions only.
do $$
declare
  v_owner text := current_user;
begin
  if not exists (select from pg_catalog.pg_roles r where r.rolname = 'millrace_keeper')
     or pg_catalog.pg_has_role('millrace_keeper', 'pg_read_all_stats', 'member') then
    return;
  end if;
  begin
    if v_owner <> session_user then
      execute 'set local role none';
    end if;
    execute 'grant pg_read_all_stats to millrace_keeper';
  exception when insufficient_privilege or internal_error or unique_violation then
    -- Not allowed to, or another database of this server grants it at this moment: the next deploy tries again.
    raise notice 'the keeper cannot watch other sessions: %', sqlerrm;
  end;
  if v_owner <> session_user then
    execute format('set local role %I', v_owner);
  end if;
end;
$$;
