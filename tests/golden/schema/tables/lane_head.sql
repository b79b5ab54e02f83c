create table millrace.lane_head (
  lane_id integer not null,
  claim_no bigint not null,
  tenant_id uuid not null,
  lane_xid xid8 not null,
  lane_seq bigint not null,
  late_xids xid8[] not null,
  late_seqs bigint[] not null
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=500, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);  -- row security forced
CREATE INDEX lane_head_idx ON millrace.lane_head USING btree (lane_id, claim_no);
