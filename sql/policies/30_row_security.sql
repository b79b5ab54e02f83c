-- Row level security: forced on every table that has a tenant, so that even the owner passes through a policy. Roles that may
-- be missing on a hosted server are skipped. Idempotent, and without a lock on a table where nothing changes: a policy
-- carries the hash of its definition as comment and is made anew only when that differs.
--
-- Rights come from database roles. Claims and settings only narrow what a role may see: the engine's own roles and
-- service_role to the tenant of the call, authenticated to the rows of its own user, anon to nothing.
-- millrace.job_intake has no rows at rest, and COPY cannot go through row security: it is guarded by grants alone.
do $$
declare
  v_row record;
  v_kept text[] := '{}';
  v_scope constant text := '(select millrace.tenant_scope()) is null or tenant_id = (select millrace.tenant_scope())';
  -- Rows of a generation that is being put in place, or was replaced.
  v_seen constant text := 'not exists (select from millrace.generation g where g.generation_id = millrace.document_chunks.generation_id and g.state <> ''published'')';
  v_own constant text := 'tenant_id = (select millrace.current_tenant()) and owner_id = (select millrace.current_user_id())';
begin
  for v_row in
    select c.oid, c.relname, c.relrowsecurity, c.relforcerowsecurity, c.relispartition
      from pg_catalog.pg_class c
     where c.relnamespace = 'millrace'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'job_intake'
       and (c.relname in ('api_rate_limits', 'system_configuration')
            or exists (select from pg_catalog.pg_attribute a
                        where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped))
  loop
    if not v_row.relrowsecurity then
      execute format('alter table millrace.%I enable row level security', v_row.relname);
    end if;
    -- A partition is reached through its parent; directly only by the owner, who maintains it.
    if not v_row.relforcerowsecurity and not v_row.relispartition then
      execute format('alter table millrace.%I force row level security', v_row.relname);
    end if;
  end loop;

  for v_row in
    with tenant_table as (
      select c.relname::text as name from pg_catalog.pg_class c
        join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
       where c.relnamespace = 'millrace'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition),
    wanted as (
      select t.name, 'owner_all' as policy, 'all' as command, array[current_user::text] as roles, 'true' as rule
        from (select name from tenant_table union values ('api_rate_limits'), ('system_configuration')) t(name)
      union all
      select t.name, 'tenant_scope_select', 'select', array['millrace_api', 'millrace_reader'],
             case t.name when 'document_chunks' then '(' || v_scope || ') and ' || v_seen else v_scope end from tenant_table t
      union all
      select t.name, case t.name when 'job_fact' then 'job_queue_service_role_only' else t.name || '_service_role_only' end, 'select',
             array['service_role'], '(select millrace.is_service_role()) and (' || v_scope || ')'
        from tenant_table t
      union all
      select 'job_fact', 'export_jobs_select_own', 'select', array['authenticated'], v_own
      union all
      -- Where a job lies: visible with its fact, whose own policy applies inside.
      select p.name, 'export_jobs_select_own', 'select', array['authenticated'],
             format('exists (select from millrace.job_fact f where f.job_id = millrace.%I.job_id)', p.name)
        from unnest(array['ready', 'delayed', 'lease', 'job_history', 'attempt', 'result', 'artifact']) p(name)
      union all
      -- What a user owns, and nothing wider.
      select 'user_profiles', 'user_profiles_select_own', 'select', array['authenticated'],
             'tenant_id = (select millrace.current_tenant()) and account_owner_id = (select millrace.current_user_id())'
      union all
      select 'shell_files', 'shell_files_user_access', 'select', array['authenticated'],
             'tenant_id = (select millrace.current_tenant()) and owner_id = (select millrace.current_user_id()) and millrace.has_profile_access(patient_id)'
      union all
      select 'export_history', 'export_history_select_own', 'select', array['authenticated'],
             'tenant_id = (select millrace.current_tenant()) and user_id = (select millrace.current_user_id())'
      union all
      select 'storage_object', 'storage_object_select_own', 'select', array['authenticated'], v_own
      union all
      select 'api_rate_limits', 'api_rate_limits_service_role_only', 'all', array['service_role'], '(select millrace.is_service_role())'
      union all
      select 'api_rate_limits', 'engine_select', 'select', array['millrace_api', 'millrace_reader'], 'true'
      union all
      select 'system_configuration', 'not_sensitive_select', 'select', array['millrace_api', 'millrace_reader'], 'not is_sensitive')
    select w.name, w.policy, w.command, w.rule, r.roles, md5(w.command || r.roles || w.rule) as stamp,
           p.oid as policy_oid, pg_catalog.obj_description(p.oid, 'pg_policy') as stamped
      from wanted w
      cross join lateral (select string_agg(quote_ident(x.role), ', ' order by x.role) as roles
                            from unnest(w.roles) x(role) join pg_catalog.pg_roles k on k.rolname = x.role) r
      left join pg_catalog.pg_policy p on p.polrelid = ('millrace.' || w.name)::regclass and p.polname = w.policy
     where r.roles is not null
  loop
    v_kept := v_kept || (v_row.name || '.' || v_row.policy);
    continue when v_row.stamped = v_row.stamp;
    if v_row.policy_oid is not null then
      execute format('drop policy %I on millrace.%I', v_row.policy, v_row.name);
    end if;
    execute format('create policy %I on millrace.%I for %s to %s using (%s)', v_row.policy, v_row.name, v_row.command,
                   v_row.roles, v_row.rule);
    execute format('comment on policy %I on millrace.%I is %L', v_row.policy, v_row.name, v_row.stamp);
  end loop;

  -- What an earlier version had and this one has not.
  for v_row in
    select c.relname as name, p.polname as policy
      from pg_catalog.pg_policy p join pg_catalog.pg_class c on c.oid = p.polrelid
     where c.relnamespace = 'millrace'::regnamespace and pg_catalog.obj_description(p.oid, 'pg_policy') ~ '^[0-9a-f]{32}$'
       and not (c.relname || '.' || p.polname) = any (v_kept)
  loop
    execute format('drop policy %I on millrace.%I', v_row.policy, v_row.name);
  end loop;
end;
$$;
