create table millrace.claim_done_default partition of millrace.claim_done (
  claim_id uuid not null,
  claimed_at timestamp with time zone not null,
  tenant_id uuid not null,
  at timestamp with time zone not null,
  done bit varying not null
);  -- row security
