-- millrace.list_pipelines: what new files may be sent into (and export, which takes orders), with the version that they begin with. guardian and ingest are taken also before a worker has told of them.
create or replace function millrace.list_pipelines() returns table (name text, version text, hash text, first_job_type text, registered_at timestamptz)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select p.name, v.version, encode(p.hash, 'hex'), v.first_job ->> 'job_type', p.registered_at
    from millrace.pipeline p join millrace.pipeline_version v on v.hash = p.hash order by p.name
$$;
