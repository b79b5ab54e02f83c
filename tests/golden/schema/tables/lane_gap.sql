create table millrace.lane_gap (
  lane_id integer not null,
  lane_xid xid8 not null,
  seq bigint not null,
  tenant_id uuid not null
) with (vacuum_truncate=false);  -- row security forced
alter table millrace.lane_gap add constraint lane_gap_pkey PRIMARY KEY (lane_id, lane_xid, seq);
