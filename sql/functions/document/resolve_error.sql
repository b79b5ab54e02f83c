-- millrace.resolve_error: the error record of a file that was processed in the end (G-09): nothing is wrong now, and what was is marked.
create or replace function millrace.resolve_error(p_record jsonb) returns jsonb
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select case when p_record is not null then p_record || jsonb_build_object('current_error', null, 'error_history', coalesce((
    select jsonb_agg(i || '{"resolved": true}' order by n) from jsonb_array_elements(p_record -> 'error_history') with ordinality e(i, n)), '[]')) end
$$;
