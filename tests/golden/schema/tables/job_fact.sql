create table millrace.job_fact (
  job_id uuid not null,
  seq bigint not null default nextval('millrace.job_seq'::regclass),
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  priority smallint not null,
  flags smallint not null default 0,
  payload jsonb not null,
  job_name text,
  job_category text not null default 'standard'::text,
  owner_id uuid,
  dedupe_key text,
  serial_key text,
  concurrency_key text,
  correlation_id text,
  traceparent text,
  pipeline text,
  stage text,
  batch_id uuid,
  parent_id uuid,
  max_attempts smallint,
  run_timeout interval,
  start_deadline timestamp with time zone,
  estimated_tokens integer not null default 1000,
  scheduled_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  lane_id integer,
  lane_xid xid8
) partition by RANGE (job_id);  -- row security forced
alter table millrace.job_fact add constraint job_fact_estimated_tokens_check CHECK ((estimated_tokens > 0));
alter table millrace.job_fact add constraint job_fact_pkey PRIMARY KEY (job_id);
alter table millrace.job_fact add constraint job_fact_priority_check CHECK (((priority >= 0) AND (priority <= 1000)));
CREATE INDEX job_fact_batch_idx ON ONLY millrace.job_fact USING btree (batch_id, job_id) WHERE (batch_id IS NOT NULL);
CREATE INDEX job_fact_lane_idx ON ONLY millrace.job_fact USING btree (lane_id, lane_xid, seq) WHERE (lane_id IS NOT NULL);
CREATE INDEX job_fact_owner_idx ON ONLY millrace.job_fact USING btree (tenant_id, owner_id, job_id) WHERE (owner_id IS NOT NULL);
CREATE TRIGGER job_fact_immutable BEFORE UPDATE ON millrace.job_fact FOR EACH ROW EXECUTE FUNCTION millrace.refuse_change('job_fact');
