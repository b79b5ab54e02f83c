-- millrace.rest_surface: what the Supabase-compatible routes offer, from the catalogue: functions by name with their arguments (name, type, whether it
-- may be left out) and what they return, and the columns of the tables.
create or replace function millrace.rest_surface() returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return jsonb_build_object(
    'functions', (
      select jsonb_object_agg(p.proname, jsonb_build_object(
               'set', p.proretset, 'void', p.prorettype = 'void'::regtype, 'read_only', p.provolatile <> 'v',
               'args', coalesce((select jsonb_agg(jsonb_build_object('name', a.name, 'type', format_type(a.type, null), 'optional', a.n > p.pronargs - p.pronargdefaults) order by a.n)
                                   from unnest(p.proargtypes::oid[], p.proargnames[1:p.pronargs]) with ordinality a(type, name, n)), '[]')))
        from pg_proc p join millrace.exposed_names() e on e.kind = 'function' and e.name = p.proname
       where p.pronamespace = 'millrace'::regnamespace),
    'tables', (
      select jsonb_object_agg(c.relname, (
               select jsonb_object_agg(a.attname, format_type(a.atttypid, null)) from pg_attribute a
                where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attname <> 'tenant_id'))
        from pg_class c
       where c.relnamespace = 'millrace'::regnamespace and c.relname in ('shell_files', 'export_jobs', 'export_history', 'user_profiles', 'job_queue', 'upload_jobs', 'job')));
end;
$$;
