-- millrace.write_output: result and artifacts of a job, in the transaction that settles it: {"outputs": ..., "score": n, "artifacts": [{"kind", "file_name",
-- "expires_in_seconds", and the content as in millrace.check_stored}]}. One result per job: a later generation replaces it.
create or replace function millrace.write_output(p_job_id uuid, p_tenant uuid, p_output jsonb) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_item jsonb;
begin
  if jsonb_typeof(p_output) is distinct from 'object' or not p_output ? 'outputs'
     or coalesce(jsonb_typeof(p_output -> 'score'), 'null') not in ('number', 'null') or coalesce(jsonb_typeof(p_output -> 'artifacts'), 'array') <> 'array' then
    raise exception 'output must be an object with outputs, a score that is a number, and a list of artifacts' using errcode = 'MR016';
  end if;
  if octet_length((p_output -> 'outputs')::text) > 262144 then
    raise exception 'outputs have % bytes, the limit is 262144', octet_length((p_output -> 'outputs')::text) using errcode = 'MR004', hint = 'store them as an artifact';
  end if;
  insert into millrace.result as r (id, job_id, tenant_id, outputs_json, score, created_at)
  values (millrace.new_id(), p_job_id, p_tenant, p_output -> 'outputs', (p_output ->> 'score')::numeric, v_now)
  on conflict (job_id) do update set outputs_json = excluded.outputs_json, score = excluded.score, created_at = excluded.created_at;
  delete from millrace.artifact a where a.job_id = p_job_id;
  if jsonb_array_length(p_output -> 'artifacts') > 1000 then
    raise exception 'a job may have 1000 artifacts at most' using errcode = 'MR016';
  end if;
  if exists (select from jsonb_array_elements(p_output -> 'artifacts') i where coalesce(i ->> 'kind', '') !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,62}$') then
    raise exception 'kind of an artifact must be a name of 1 to 63 letters, digits and . _ : -' using errcode = 'MR016';
  end if;
  -- All content first, in the order of its digests: two jobs with the same artifacts in another order do not wait for each other.
  perform millrace.take_blob(p_tenant, a.item)
     from (select i as item from jsonb_array_elements(p_output -> 'artifacts') i order by (i ->> 'sha256') collate "C") a;
  for v_item in select i from jsonb_array_elements(p_output -> 'artifacts') i loop
    insert into millrace.artifact (id, job_id, tenant_id, kind, file_name, sha256, size_bytes, content_type, expires_at, created_at)
    values (millrace.new_id(), p_job_id, p_tenant, v_item ->> 'kind', left(v_item ->> 'file_name', 1024), decode(v_item ->> 'sha256', 'hex'),
            (v_item ->> 'size_bytes')::bigint, left(coalesce(v_item ->> 'content_type', 'application/octet-stream'), 200),
            v_now + make_interval(secs => (v_item ->> 'expires_in_seconds')::double precision), v_now);
  end loop;
end;
$$;
