create table millrace.claim_default partition of millrace.claim (
  claim_id uuid not null,
  lane_id integer not null,
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  worker_id text not null,
  process uuid not null,
  claimed_at timestamp with time zone not null,
  job_ids uuid[] not null,
  span box not null
);  -- row security
