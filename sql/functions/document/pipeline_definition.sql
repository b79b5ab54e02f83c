-- millrace.pipeline_definition: the pipeline that documents with this hash began with; null where none did.
create or replace function millrace.pipeline_definition(p_hash bytea) returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select v.definition from millrace.pipeline_version v where v.hash = p_hash
$$;
