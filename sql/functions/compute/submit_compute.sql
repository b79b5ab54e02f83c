-- millrace.submit_compute: a question for the compute pipeline: definition and version of a contract, inputs with defaults applied. Answers the job
-- that answers it: 'created'; 'running' where an equal question of the same tenant and app is under way; 'cached' where its result is younger
-- than the option ttl_seconds, where the server says one, or else than compute.result_ttl_seconds; the asker may want a younger one. p_key is the digest of all that the answer depends on, tenant and app included; p_inputs_hash is what clients
-- know it by. Callers with an equal key stand in line for its row, so there is one job for them all; but a user's job (owner_id) is the user's alone
-- (T-02), so the questions of two users do not meet.
create or replace function millrace.submit_compute(p_app_id text, p_definition text, p_version text, p_inputs jsonb, p_inputs_hash text, p_key bytea,
    p_options jsonb default '{}')
  returns table (job_id uuid, answer text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_tenant uuid := millrace.current_tenant();
  v_now timestamptz := millrace.now();
  v_bad text := (select k from jsonb_object_keys(p_options) k where k not in ('owner_id', 'priority', 'correlation_id', 'traceparent', 'ttl_seconds', 'max_age_seconds') limit 1);
  v_ttl interval := make_interval(secs => least(coalesce((p_options ->> 'ttl_seconds')::integer, millrace.config_integer('compute.result_ttl_seconds', 300)), coalesce((p_options ->> 'max_age_seconds')::integer, 2147483647)));
  v_owner uuid := millrace.uuid_or_null(p_options ->> 'owner_id');
  v_key bytea := case when v_owner is null then p_key else sha256(p_key || uuid_send(v_owner)) end;
  v_before uuid;
  v_job millrace.job_brief;
begin
  if coalesce(p_definition, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,126}$' or coalesce(p_version, '') !~ '^[0-9A-Za-z][0-9A-Za-z.+-]{0,62}$'
     or coalesce(p_app_id, '') !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,126}$' then
    raise exception 'app_id, definition and version must be names of letters, digits and . _ -' using errcode = 'MR024';
  end if;
  if v_bad is not null or octet_length(p_key) is distinct from 32 or coalesce(p_inputs_hash, '') !~ '^[0-9a-f]{64}$' or p_inputs is null then
    raise exception '%', case when v_bad is not null then 'unknown field ' || v_bad else 'inputs, inputs_hash and a key of 32 bytes are required' end using errcode = 'MR024';
  end if;
  loop
    insert into millrace.compute_job (tenant_id, app_id, compute_key, inputs_hash, definition, version, job_id, asked_at)
    values (v_tenant, p_app_id, v_key, p_inputs_hash, p_definition, p_version, '00000000-0000-0000-0000-000000000000', v_now)
    on conflict (tenant_id, app_id, compute_key) do nothing;
    select c.job_id into v_before from millrace.compute_job c
     where c.tenant_id = v_tenant and c.app_id = p_app_id and c.compute_key = v_key for update;
    -- Forgotten in between by the keeper: once more.
    exit when found;
  end loop;
  -- In a statement of its own: what became of the job while this one waited is seen.
  v_job := millrace.job_brief_of(v_before, false);
  job_id := v_before;
  answer := case when v_job.job_id is null then null
                 when v_job.status in ('pending', 'processing', 'retrying', 'deferred') then 'running'
                 when v_job.status = 'completed' and v_job.finished_at > v_now - v_ttl
                      and exists (select from millrace.result r where r.job_id = v_before) then 'cached' end;
  if answer is null then
    select e.job_id into strict job_id
      from millrace.enqueue_specs(millrace.specs_from_json(jsonb_strip_nulls(jsonb_build_object(
             'job_type', 'compute_solve', 'job_name', left(p_definition || '@' || p_version, 256), 'owner_id', p_options ->> 'owner_id',
             'priority', p_options -> 'priority', 'correlation_id', p_options ->> 'correlation_id', 'traceparent', p_options ->> 'traceparent'))
           || jsonb_build_object('payload', jsonb_build_object('app_id', p_app_id, 'definition', p_definition, 'version', p_version,
                                                             'inputs_hash', p_inputs_hash, 'inputs', p_inputs, 'requested_at', v_now))), v_tenant) e;
    answer := 'created';
  end if;
  update millrace.compute_job c set job_id = submit_compute.job_id, asked_at = v_now
   where c.tenant_id = v_tenant and c.app_id = p_app_id and c.compute_key = v_key;
  return next;
end;
$$;
