-- millrace.set_cron: creates or changes a cron entry of the tenant and returns its id. The job is
-- one object as in millrace.enqueue_jobs, checked now: a typing error must not wait for 3 a.m.
-- p_options: time_zone (UTC), enabled (true), missed ('one': runs missed while no keeper was up are
-- made good by one run; 'skip': they are dropped). Options not named keep the values of an existing
-- entry.
-- Idempotent: setting the same values again does not move the next run.
create or replace function millrace.set_cron(p_name text, p_schedule text, p_job jsonb,
                                             p_options jsonb default '{}')
  returns uuid language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant uuid := millrace.current_tenant();
  v_now timestamptz := millrace.now();
  v_options jsonb := coalesce(p_options, '{}');
  v_old millrace.cron;
  v_bad text;
  v_zone text;
  v_enabled boolean;
  v_missed text;
  v_due timestamptz;
  v_id uuid;
begin
  if coalesce(p_name, '') !~ '^\S(.{0,198}\S)?$' then
    raise exception 'p_name must have 1 to 200 characters and not begin or end with a space'
      using errcode = 'MR024';
  end if;
  if jsonb_typeof(v_options) <> 'object' then
    raise exception 'p_options must be a JSON object' using errcode = 'MR024';
  end if;
  select format('%s %s', e.key, case e.key when 'time_zone' then 'must be a string'
                                           when 'enabled' then 'must be true or false'
                                           when 'missed' then 'must be one or skip'
                                           else 'is not a field of p_options' end)
    into v_bad
    from jsonb_each(v_options) e
   where case e.key when 'time_zone' then jsonb_typeof(e.value) <> 'string'
                    when 'enabled' then jsonb_typeof(e.value) <> 'boolean'
                    when 'missed' then e.value not in ('"one"', '"skip"')
                    else true end
   order by e.key limit 1;
  if found then
    raise exception '%', v_bad using errcode = 'MR024';
  end if;
  if jsonb_typeof(p_job) is distinct from 'object' then
    raise exception 'p_job must be one JSON object' using errcode = 'MR024';
  end if;
  select f.field into v_bad
    from unnest('{id,idempotency_key,scheduled_at,start_deadline,batch_id,after}'::text[]) f(field)
   where p_job ? f.field limit 1;
  if found then
    raise exception 'p_job: % cannot be used in cron, every run is a new job', v_bad
      using errcode = 'MR024';
  end if;
  perform millrace.check_specs(millrace.specs_from_json(p_job), v_tenant);

  -- Two callers with a new name: the second waits here and then changes the first one's entry.
  insert into millrace.cron as c (tenant_id, name, schedule, job, next_due_at, enabled, created_at,
                                  updated_at)
  values (v_tenant, p_name, p_schedule, p_job, 'infinity', false, v_now, v_now)
  on conflict on constraint cron_name_key do nothing
  returning c.cron_id into v_id;
  if v_id is null then
    select c.* into v_old
      from millrace.cron c where c.tenant_id = v_tenant and c.name = p_name for update;
    v_id := v_old.cron_id;
  end if;
  v_zone := coalesce(v_options ->> 'time_zone', v_old.time_zone, 'UTC');
  v_enabled := coalesce((v_options ->> 'enabled')::boolean, v_old.enabled, true);
  v_missed := coalesce(v_options ->> 'missed', v_old.missed, 'one');
  v_due := case when v_old.enabled and v_enabled and v_old.schedule = p_schedule
                     and v_old.time_zone = v_zone
                then v_old.next_due_at else millrace.cron_next(p_schedule, v_now, v_zone) end;
  update millrace.cron c
     set schedule = p_schedule, time_zone = v_zone, job = p_job, enabled = v_enabled,
         missed = v_missed, next_due_at = v_due, last_error = null, updated_at = v_now
   where c.cron_id = v_id;
  perform millrace.audit_policy('cron', v_id::text,
    case when v_old.cron_id is not null then jsonb_build_object(
      'name', v_old.name, 'schedule', v_old.schedule, 'time_zone', v_old.time_zone,
      'enabled', v_old.enabled, 'missed', v_old.missed, 'job_type', v_old.job ->> 'job_type') end,
    jsonb_build_object(
      'name', p_name, 'schedule', p_schedule, 'time_zone', v_zone, 'enabled', v_enabled,
      'missed', v_missed, 'job_type', p_job ->> 'job_type'), 'Cron entry set');
  return v_id;
end;
$$;
