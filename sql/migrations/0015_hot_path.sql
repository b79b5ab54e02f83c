-- Keys are judged, parked and let go in sets. The functions that did so job by job give way to others with other names or
-- arguments. Lock cost: job_history, while an index of its failed and cancelled jobs is built. compat: rolling (a call that meets the change fails
-- and is repeated)

drop function if exists millrace.judge_key(uuid, uuid, smallint, text, bigint, integer);
drop function if exists millrace.park_ready(uuid, text, bigint);
drop function if exists millrace.advance_key(uuid, smallint, text);
drop function if exists millrace.lease_ready(uuid[], text, text, uuid, interval, interval, interval, boolean);

-- Jobs of a claim that stood in line can be fetched when the claim is committed: these take one argument more.
drop function if exists millrace.claim_jobs(text, uuid, text, integer, text[], jsonb, boolean, boolean, boolean);
drop function if exists millrace.claim_core(text, uuid, smallint[], smallint[], uuid, uuid, integer, interval, boolean, jsonb, boolean, boolean);
drop function if exists millrace.claim_lane(integer, integer, timestamptz, text, uuid, boolean, integer);
drop function if exists millrace.read_lane(integer, integer, timestamptz, boolean, boolean);
drop function if exists millrace.read_late(millrace.lane_head, integer, boolean, boolean);

-- Lists of what failed or was cancelled, newest first.
create index if not exists job_history_ended_idx on millrace.job_history (status, job_id) where status <> 'completed';

-- Keeps its plan: as SQL it was planned anew by every statement that writes evidence about several jobs. It answers the same.
create or replace function millrace.ids_range(p_ids uuid[]) returns int8range
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[] := array(select i from unnest(p_ids) i order by i);
begin
  return int8range(millrace.id_prefix(v_ids[1]), millrace.id_prefix(v_ids[cardinality(v_ids)]), '[]');
end;
$$;
