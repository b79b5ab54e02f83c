-- millrace.set_job_type: registers a job type or changes the fields given: queue, required_keys, required_message, provider ("name:endpoint" or null),
-- priority_default, run_timeout, max_attempts, enabled.
create or replace function millrace.set_job_type(p_job_type text, p_policy jsonb default '{}') returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_old jsonb;
  v_queue_id smallint;
  v_bad text := (select k from jsonb_object_keys(p_policy) k where k not in
    ('queue', 'required_keys', 'required_message', 'provider', 'priority_default', 'run_timeout', 'max_attempts', 'enabled') limit 1);
  v_constraint text;
begin
  if v_bad is not null then
    raise exception 'unknown field %', v_bad using errcode = 'MR017';
  end if;
  select q.queue_id into v_queue_id from millrace.queue q where q.queue = coalesce(p_policy ->> 'queue', 'default');
  if not found then
    raise exception 'queue % does not exist', quote_literal(p_policy ->> 'queue') using errcode = 'MR007';
  end if;
  if p_policy ->> 'provider' is not null and not exists (
      select from millrace.api_rate_limits p where p.provider_name || ':' || p.api_endpoint = p_policy ->> 'provider') then
    raise exception 'provider % has no limit row', quote_literal(p_policy ->> 'provider') using errcode = 'MR013', hint = 'millrace.set_limit creates one';
  end if;
  insert into millrace.job_type (job_type, queue_id) values (p_job_type, v_queue_id) on conflict (job_type) do nothing;
  select to_jsonb(t) into strict v_old from millrace.job_type t where t.job_type = p_job_type for update;
  update millrace.job_type t
     set queue_id = case when p_policy ? 'queue' then v_queue_id else t.queue_id end,
         required_keys = case when p_policy ? 'required_keys' then array(select jsonb_array_elements_text(p_policy -> 'required_keys')) else t.required_keys end,
         required_message = case when p_policy ? 'required_message' then p_policy ->> 'required_message' else t.required_message end,
         provider_name = case when p_policy ? 'provider' then split_part(p_policy ->> 'provider', ':', 1) else t.provider_name end,
         api_endpoint = case when p_policy ? 'provider' then substr(p_policy ->> 'provider', strpos(p_policy ->> 'provider', ':') + 1) else t.api_endpoint end,
         priority_default = case when p_policy ? 'priority_default' then (p_policy ->> 'priority_default')::smallint else t.priority_default end,
         run_timeout = case when p_policy ? 'run_timeout' then millrace.policy_interval(p_policy -> 'run_timeout', 'run_timeout') else t.run_timeout end,
         max_attempts = case when p_policy ? 'max_attempts' then (p_policy ->> 'max_attempts')::smallint else t.max_attempts end,
         enabled = case when p_policy ? 'enabled' then (p_policy ->> 'enabled')::boolean else t.enabled end, updated_at = millrace.now()
   where t.job_type = p_job_type;
  perform millrace.audit_policy('job_type', p_job_type, v_old, coalesce(p_policy, '{}'), 'Job type set');
exception
  when check_violation or not_null_violation then
    get stacked diagnostics v_constraint = constraint_name;
    raise exception 'job type policy: % is out of range', coalesce(nullif(regexp_replace(v_constraint, '^job_type_|_check$', '', 'g'), ''), 'a field')
      using errcode = 'MR017';
  when invalid_text_representation or numeric_value_out_of_range or invalid_parameter_value then
    raise exception 'job type policy: a number, boolean or list of required_keys is not valid' using errcode = 'MR017';
end;
$$;
