-- millrace.open_batch: starts a batch; jobs join it by batch_id until it is sealed. Options: name, callback (a job as in
-- millrace.enqueue_jobs; its payload gets the counts), callback_on: finished (default) or completed (only when all members completed).
create or replace function millrace.open_batch(p_options jsonb default '{}') returns uuid
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_id uuid := millrace.new_id();
  v_bad text := (select k from jsonb_object_keys(p_options) k where k not in ('name', 'callback', 'callback_on') limit 1);
begin
  if v_bad is not null then
    raise exception 'unknown field %', v_bad using errcode = 'MR018';
  end if;
  if coalesce(p_options ->> 'callback_on', 'finished') not in ('finished', 'completed') then
    raise exception 'callback_on must be finished or completed' using errcode = 'MR018';
  end if;
  if p_options ? 'callback' then
    perform millrace.check_specs(millrace.specs_from_json((p_options -> 'callback') || jsonb_build_object(
      'payload', coalesce(p_options #> '{callback,payload}', '{}') || jsonb_build_object('batch_id', v_id))), millrace.current_tenant());
  end if;
  insert into millrace.batch (batch_id, tenant_id, name, callback, callback_on, created_at, created_by)
  values (v_id, millrace.current_tenant(), left(p_options ->> 'name', 200), p_options -> 'callback', coalesce(p_options ->> 'callback_on', 'finished'),
          millrace.now(), millrace.actor());
  return v_id;
end;
$$;
