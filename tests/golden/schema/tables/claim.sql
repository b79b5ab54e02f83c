create table millrace.claim (
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
) partition by RANGE (claimed_at);  -- row security forced
alter table millrace.claim add constraint claim_pkey PRIMARY KEY (claim_id, claimed_at);
CREATE INDEX claim_span_idx ON ONLY millrace.claim USING gist (span);
CREATE TRIGGER claim_immutable BEFORE DELETE OR UPDATE ON millrace.claim FOR EACH ROW EXECUTE FUNCTION millrace.refuse_change('claim');
