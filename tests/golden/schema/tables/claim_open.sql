create table millrace.claim_open (
  claim_id uuid not null,
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  worker_id text not null,
  process uuid not null,
  claimed_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  held bit varying not null
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=500, autovacuum_vacuum_cost_delay=0, vacuum_truncate=false);  -- row security forced
alter table millrace.claim_open add constraint claim_open_pkey PRIMARY KEY (claim_id);
CREATE INDEX claim_open_process_idx ON millrace.claim_open USING btree (process);
CREATE INDEX claim_open_until_idx ON millrace.claim_open USING btree (lease_until);
