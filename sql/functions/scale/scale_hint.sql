-- millrace.scale_hint: how many jobs of a queue are runnable or running: one number for a scaler, 0 for a queue that does not exist. Running ones count,
-- so that nothing is scaled away under them.
create or replace function millrace.scale_hint(p_queue text) returns bigint
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
begin
  return greatest(coalesce((
    select sum(c.demand) from (
      select k.ready + k.leased as demand from millrace.counter k join millrace.queue q on q.queue_id = k.queue_id and q.queue = p_queue
       where v_scope is null or k.tenant_id = v_scope
      union all
      select d.ready + d.leased from millrace.counter_delta d join millrace.queue q on q.queue_id = d.queue_id and q.queue = p_queue
       where v_scope is null or d.tenant_id = v_scope) c), 0), 0)::bigint;
end;
$$;
