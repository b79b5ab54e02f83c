-- millrace.allowed_job_types: the registered types, for error messages.
create or replace function millrace.allowed_job_types() returns text[]
  language sql stable set search_path = pg_catalog, pg_temp
as $$ select coalesce(array_agg(t.job_type order by t.type_id), '{}') from millrace.job_type t where t.enabled $$;
