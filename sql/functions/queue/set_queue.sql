-- millrace.set_queue: creates a queue or changes the fields given; the others keep their values. Fields: max_attempts, backoff_base, backoff_factor,
-- backoff_cap, jitter_low, jitter_high, lease, beat, run_timeout, reclaim_jitter, max_age, max_snoozes, concurrency_max,
-- key_concurrency_max, depth_max, priority_default, age_step.
create or replace function millrace.set_queue(p_queue text, p_policy jsonb default '{}') returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_old millrace.queue;
  v_new millrace.queue;
  v_key text;
  v_value jsonb;
  v_constraint text;
begin
  if coalesce(p_queue, '') !~ '^[a-z0-9][a-z0-9_.:-]{0,62}$' then
    raise exception 'queue must have 1 to 63 lower case letters, digits or _ . : -' using errcode = 'MR017';
  end if;
  insert into millrace.queue (queue) values (p_queue) on conflict (queue) do nothing;
  select q.* into strict v_old from millrace.queue q where q.queue = p_queue for update;
  v_new := v_old;
  for v_key, v_value in select e.key, e.value from jsonb_each(coalesce(p_policy, '{}')) e loop
    begin
      case v_key
        when 'max_attempts' then v_new.max_attempts := v_value;
        when 'backoff_base' then v_new.backoff_base := millrace.policy_interval(v_value, v_key);
        when 'backoff_factor' then v_new.backoff_factor := v_value;
        when 'backoff_cap' then v_new.backoff_cap := millrace.policy_interval(v_value, v_key);
        when 'jitter_low' then v_new.jitter_low := v_value;
        when 'jitter_high' then v_new.jitter_high := v_value;
        when 'lease' then v_new.lease := millrace.policy_interval(v_value, v_key);
        when 'beat' then v_new.beat := millrace.policy_interval(v_value, v_key);
        when 'run_timeout' then v_new.run_timeout := millrace.policy_interval(v_value, v_key);
        when 'reclaim_jitter' then v_new.reclaim_jitter := millrace.policy_interval(v_value, v_key);
        when 'max_age' then v_new.max_age := millrace.policy_interval(v_value, v_key);
        when 'max_snoozes' then v_new.max_snoozes := v_value;
        when 'concurrency_max' then v_new.concurrency_max := nullif(v_value, 'null'::jsonb);
        when 'key_concurrency_max' then v_new.key_concurrency_max := nullif(v_value, 'null'::jsonb);
        when 'depth_max' then v_new.depth_max := v_value;
        when 'priority_default' then v_new.priority_default := v_value;
        when 'age_step' then v_new.age_step := millrace.policy_interval(v_value, v_key);
        else raise exception 'unknown field %', v_key using errcode = 'MR017';
      end case;
    exception when invalid_parameter_value or invalid_text_representation or numeric_value_out_of_range or cannot_coerce then
      raise exception '% must be a number in its range', v_key using errcode = 'MR017';
    end;
  end loop;
  if not coalesce(p_policy, '{}') ? 'beat' and v_new.beat >= v_new.lease then
    v_new.beat := v_new.lease / 3;
  end if;
  update millrace.queue q
     set max_attempts = v_new.max_attempts, backoff_base = v_new.backoff_base, backoff_factor = v_new.backoff_factor, backoff_cap = v_new.backoff_cap,
         jitter_low = v_new.jitter_low, jitter_high = v_new.jitter_high, lease = v_new.lease, beat = v_new.beat, run_timeout = v_new.run_timeout,
         reclaim_jitter = v_new.reclaim_jitter, max_age = v_new.max_age, max_snoozes = v_new.max_snoozes, concurrency_max = v_new.concurrency_max,
         key_concurrency_max = v_new.key_concurrency_max, depth_max = v_new.depth_max, priority_default = v_new.priority_default,
         age_step = v_new.age_step, updated_at = millrace.now()
   where q.queue_id = v_old.queue_id;
  perform millrace.audit_policy('queue', p_queue, to_jsonb(v_old) - 'queue_id', coalesce(p_policy, '{}'), 'Queue policy set');
exception when check_violation or not_null_violation then
  get stacked diagnostics v_constraint = constraint_name;
  raise exception 'queue policy: % is out of range', coalesce(nullif(regexp_replace(v_constraint, '^queue_|_check$', '', 'g'), ''), 'a required field')
    using errcode = 'MR017';
end;
$$;
