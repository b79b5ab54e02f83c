-- Keys are judged, parked and let go in sets. The functions that did so job by job give way to others with other names or
-- arguments. Lock cost: none. compat: rolling (a claim that runs meanwhile fails and is repeated)

drop function if exists millrace.judge_key(uuid, uuid, smallint, text, bigint, integer);
drop function if exists millrace.park_ready(uuid, text, bigint);
drop function if exists millrace.advance_key(uuid, smallint, text);
