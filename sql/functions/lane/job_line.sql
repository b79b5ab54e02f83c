-- millrace.job_line: a job of a lane as millrace.delivery hands it out: its id, payload and, where it has more to say, the rest.
-- JSON has no tab or line feed outside of strings, and none unescaped in them.
create or replace function millrace.job_line(
    p_job_id uuid, p_payload jsonb, p_job_name text, p_correlation_id text, p_traceparent text, p_pipeline text, p_stage text, p_parent_id uuid) returns text
  language sql stable
  return p_job_id::text || E'\t' || p_payload::text || case when num_nonnulls(p_job_name, p_correlation_id, p_traceparent, p_pipeline, p_stage, p_parent_id) = 0 then ''
    else E'\t' || jsonb_strip_nulls(jsonb_build_object('job_name', p_job_name, 'correlation_id', p_correlation_id, 'traceparent', p_traceparent,
                                                      'pipeline', p_pipeline, 'stage', p_stage, 'parent_id', p_parent_id))::text end;
