-- millrace.add_error: the error record of a file (G-05 to G-08) with one failure more. The one before moves into the history, of which the last hundred are kept.
create or replace function millrace.add_error(p_record jsonb, p_error jsonb) returns jsonb
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_history jsonb := coalesce(p_record -> 'error_history', '[]');
  v_metrics jsonb := coalesce(p_record -> 'metrics', '{}');
  v_type text := p_error ->> 'error_type';
begin
  v_history := v_history || jsonb_build_array((p_error - 'next_retry_at') || '{"resolved": false}');
  if jsonb_array_length(v_history) > 100 then
    v_history := v_history - 0;
  end if;
  return jsonb_build_object('current_error', p_error, 'error_history', v_history, 'metrics', jsonb_build_object(
    'total_retries', coalesce((v_metrics ->> 'total_retries')::bigint, 0) + case when p_error ->> 'next_retry_at' is not null then 1 else 0 end,
    'total_processing_time_ms', coalesce((v_metrics ->> 'total_processing_time_ms')::bigint, 0) + coalesce((p_error ->> 'duration_ms')::bigint, 0),
    'first_error_at', coalesce(v_metrics -> 'first_error_at', p_error -> 'timestamp'), 'last_error_at', p_error -> 'timestamp',
    'error_types', coalesce(v_metrics -> 'error_types', '{}') || jsonb_build_object(v_type, coalesce((v_metrics #>> array['error_types', v_type])::bigint, 0) + 1)));
end;
$$;
