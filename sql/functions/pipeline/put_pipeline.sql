-- millrace.put_pipeline: keeps a form of a pipeline, once, and when it was last told of (to the hour). p_pipeline: name, version, hash (hexadecimal), definition, and first_job (or stage, its job type). Answers the hash.
create or replace function millrace.put_pipeline(p_pipeline jsonb) returns bytea
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_hash bytea := decode(p_pipeline ->> 'hash', 'hex');
begin
  insert into millrace.pipeline_version as v (hash, name, version, definition, first_job, seen_at)
  values (v_hash, p_pipeline ->> 'name', p_pipeline ->> 'version', p_pipeline -> 'definition',
          coalesce(p_pipeline -> 'first_job', jsonb_build_object('job_type', p_pipeline ->> 'stage')), millrace.now())
  on conflict (hash) do update set seen_at = excluded.seen_at where v.seen_at < excluded.seen_at - interval '1 hour';
  return v_hash;
end;
$$;
