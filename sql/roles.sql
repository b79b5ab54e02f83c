-- The roles of the engine. The migrator runs this before anything else; it may be run any number of
-- times, and does what the connected role is allowed to do:
--   superuser or CREATEROLE   creates what is missing and becomes a member of millrace_owner
--   neither                   creates nothing; everything is then owned by the connected role
-- Settings: millrace_migrator.client_roles = on creates anon, authenticated and service_role as on
-- Supabase; millrace_migrator.engine_login = on lets the engine's roles log in (private cluster).

do $roles$
declare
  v_me constant pg_catalog.pg_roles :=
    (select r from pg_catalog.pg_roles r where r.rolname = current_user);
  v_clients constant boolean :=
    coalesce(current_setting('millrace_migrator.client_roles', true), '') = 'on';
  v_login constant boolean :=
    coalesce(current_setting('millrace_migrator.engine_login', true), '') = 'on';
  v_newer constant boolean := current_setting('server_version_num')::integer >= 160000;
  v_role record;
  v_may_become_owner boolean;
begin
  if not (v_me.rolsuper or v_me.rolcreaterole) then
    return;
  end if;

  for v_role in
    select w.name, w.options
      from (values
        ('millrace_owner',  'nologin', true),
        ('millrace_api',    'nologin', true),
        ('millrace_worker', 'nologin', true),
        ('millrace_keeper', 'nologin', true),
        ('millrace_reader', 'nologin', true),
        ('anon',            'nologin noinherit', v_clients),
        ('authenticated',   'nologin noinherit', v_clients),
        -- Bypasses row security as on Supabase; only a superuser can say so.
        ('service_role',
         'nologin noinherit' || case when v_me.rolsuper then ' bypassrls' else '' end, v_clients)
      ) as w (name, options, wanted)
     where w.wanted
       and not exists (select from pg_catalog.pg_roles r where r.rolname = w.name)
  loop
    begin
      execute format('create role %I %s', v_role.name, v_role.options);
    exception when duplicate_object or unique_violation then
      null;  -- Created at the same moment from another database of this server.
    end;
  end loop;

  if v_login then
    for v_role in
      select r.rolname as name from pg_catalog.pg_roles r
       where not r.rolcanlogin
         and r.rolname in
             ('millrace_api', 'millrace_worker', 'millrace_keeper', 'millrace_reader')
       order by r.rolname
    loop
      execute format('alter role %I login', v_role.name);
    end loop;
  end if;

  -- PostgreSQL 16 tells apart being a member from being allowed to act as the role, and gives the
  -- creator of a role only the right to grant it.
  if v_newer then
    v_may_become_owner := pg_has_role(current_user, 'millrace_owner', 'SET');
  else
    v_may_become_owner := pg_has_role(current_user, 'millrace_owner', 'MEMBER');
  end if;
  if not v_may_become_owner then
    begin
      execute format('grant millrace_owner to %I', current_user);
    exception
      when insufficient_privilege then
        null;  -- Somebody else's millrace_owner: the connected role owns everything.
      when unique_violation then
        null;  -- Granted at the same moment from another database of this server.
    end;
  end if;

  -- The server takes the role of whoever it acts for (SET LOCAL ROLE, as PostgREST's authenticator
  -- does), and has none of their rights before it does. Whoever migrates may run a server too.
  if not v_newer and (select r.rolinherit from pg_catalog.pg_roles r where r.rolname = 'millrace_api') then
    begin
      execute 'alter role millrace_api noinherit';
    exception when insufficient_privilege or internal_error then
      raise notice 'millrace_api inherits the rights of its callers: %', sqlerrm;
    end;
  end if;
  for v_role in
    select g.name, g.member, case when v_newer then case g.member when 'millrace_api' then ' with inherit false, set true' else ' with set true' end else '' end as how
      from (select r.rolname::text as name, 'millrace_api' as member from pg_catalog.pg_roles r
             where r.rolname in ('anon', 'authenticated', 'service_role', 'millrace_reader', 'millrace_worker')
            union all
            select r.rolname::text, current_user::text from pg_catalog.pg_roles r
             where r.rolname in ('millrace_api', 'millrace_reader', 'millrace_worker') and not v_me.rolsuper) g
      join pg_catalog.pg_roles m on m.rolname = g.member and m.rolname <> g.name
     where not pg_has_role(g.member, g.name, case when v_newer then 'SET' else 'MEMBER' end)
     order by g.name, g.member
  loop
    begin
      execute format('grant %I to %I%s', v_role.name, v_role.member, v_role.how);
    exception when insufficient_privilege or unique_violation or internal_error then
      -- Not allowed to, or granted at the same moment from another database of this server.
      raise notice '% cannot act as %: %', v_role.member, v_role.name, sqlerrm;
    end;
  end loop;
end;
$roles$;
