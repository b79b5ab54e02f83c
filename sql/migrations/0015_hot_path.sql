-- Keys are judged, parked and let go in sets. The functions that did so job by job give way to others with other names or
-- arguments. Lock cost: none. compat: rolling (a call that meets the change fails and is repeated)

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
