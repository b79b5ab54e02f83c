-- millrace.stage_definition: a stage of a pipeline by the form that documents are bound to (run, provider, ...); null for a job that is no stage of it.
create or replace function millrace.stage_definition(p_hash bytea, p_stage text) returns jsonb
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_path_query_first(v.definition, '$.stage[*] ? (@.name == $name)', jsonb_build_object('name', p_stage)) from millrace.pipeline_version v where v.hash = p_hash
$$;
