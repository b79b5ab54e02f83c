-- The stage: where a session stops, and worlds that are put back between two cases. Test databases only.
create schema millrace_test;
grant usage on schema millrace_test to public;

-- Called between the statements of the engine's functions (boundaries.cpp). The setting millrace_test.stop says what to do:
-- nothing (empty), note the name ('trace'), or wait at the n-th boundary of this call for as long as the test wants.
create function millrace_test.boundary(p_function text, p_number integer) returns boolean
  language plpgsql as $$
declare
  v_stop text := current_setting('millrace_test.stop', true);
  v_passed integer;
begin
  if coalesce(v_stop, '') = '' then
    return false;
  end if;
  v_passed := coalesce(nullif(current_setting('millrace_test.passed', true), ''), '0')::integer + 1;
  perform set_config('millrace_test.passed', v_passed::text, false);
  if v_stop = 'trace' then
    perform set_config('millrace_test.trace', current_setting('millrace_test.trace') || ' ' || p_function || ':' || p_number, false);
  elsif v_passed = v_stop::integer then
    -- The director waits for the first lock, which says that the boundary is reached, and holds the second.
    perform pg_advisory_unlock(7079, 1);
    perform pg_advisory_lock(7079, 2);
    perform pg_advisory_unlock(7079, 2);
  end if;
  return false;
end $$;

-- The tables that transitions change.
create view millrace_test.changing as
select c.relname as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where n.nspname = 'millrace' and c.relkind in ('r', 'p') and not c.relispartition
   and c.relname in ('api_rate_limits', 'attempt', 'audit', 'batch', 'claim', 'claim_done', 'claim_open', 'counter', 'counter_delta', 'dedupe_key', 'delayed', 'dependency',
                     'event', 'handoff', 'job_fact', 'lane', 'lane_gap', 'lane_head', 'job_history', 'lease', 'process_death', 'provider_bucket', 'provider_slot', 'queue_slot', 'ready',
                     'serial_member', 'test_clock', 'wake', 'worker');

-- Keeps what the tables hold now under a name; millrace_test.set_<name>() brings it back. Facts and evidence refuse to be changed: it must be
-- called with session_replication_role = replica, which goes past the triggers.
create function millrace_test.keep(p_world text) returns void
  language plpgsql as $$
declare
  v_table text;
  v_back text := '';
begin
  execute format('create schema kept_%s', p_world);
  for v_table in select c.name from millrace_test.changing c order by 1 loop
    execute format('create table kept_%s.%I as table millrace.%I', p_world, v_table, v_table);
    v_back := v_back || format('delete from millrace.%I; insert into millrace.%I overriding system value select * from kept_%s.%I; ',
                               v_table, v_table, p_world, v_table);
  end loop;
  execute format('create function millrace_test.set_%s() returns void language plpgsql as %L', p_world, 'begin ' || v_back || 'end');
end $$;

-- The name of a job, as a test gave it. Looks with a snapshot of its own: the job may be younger than the statement.
create function millrace_test.name(p_job_id uuid) returns text
  language plpgsql as $$
begin
  return (select f.job_name from millrace.job_fact f where f.job_id = p_job_id);
end $$;

-- One partition of each table is enough here, and cheaper to look through.
do $$
declare
  v_part record;
begin
  for v_part in select c.oid::regclass as name from pg_class c join pg_inherits i on i.inhrelid = c.oid
                 where c.relnamespace = 'millrace'::regnamespace and c.relkind = 'r' and c.relname not like '%\_default' loop
    execute format('drop table %s', v_part.name);
  end loop;
end $$;
