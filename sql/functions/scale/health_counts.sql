-- millrace.health_counts: what a health check asks: waiting jobs of all queues, processes that live, whether a keeper is at work, how far the schema is.
create or replace function millrace.health_counts() returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_now timestamptz := millrace.now();
begin
  return jsonb_build_object(
    'now', v_now,
    'queue_depth', (select greatest(coalesce(sum(c.depth), 0), 0) from (
        select k.ready + k.delayed as depth from millrace.counter k union all select d.ready + d.delayed from millrace.counter_delta d) c),
    'workers', (select count(*) from millrace.worker w where w.lease_until > v_now),
    'workers_silent', (select count(*) from millrace.worker w where w.lease_until <= v_now),
    'keeper', exists (select from millrace.keeper_lease k where k.lease_until > v_now),
    'maintenance', millrace.config_boolean('system.maintenance_mode', false),
    'enqueue_enabled', millrace.config_boolean('system.enqueue_enabled', true),
    'schema_version', (select max(m.version) from millrace.schema_migration m));
end;
$$;
