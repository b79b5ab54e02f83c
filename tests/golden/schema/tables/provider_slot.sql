create table millrace.provider_slot (
  slot_id bigint generated always as identity not null,
  provider_id integer not null,
  job_id uuid,
  token uuid,
  worker_id text,
  acquired_at timestamp with time zone not null,
  lease_until timestamp with time zone not null,
  estimated_tokens bigint not null,
  minute_bucket bigint not null,
  hour_bucket bigint not null,
  claim_id uuid,
  jobs integer not null default 1,
  own boolean not null default false
) with (fillfactor=70);
alter table millrace.provider_slot add constraint provider_slot_cost_check CHECK ((estimated_tokens > 0));
alter table millrace.provider_slot add constraint provider_slot_jobs_check CHECK ((jobs > 0));
alter table millrace.provider_slot add constraint provider_slot_limit_fkey FOREIGN KEY (provider_id) REFERENCES millrace.api_rate_limits(provider_id) ON DELETE CASCADE;
alter table millrace.provider_slot add constraint provider_slot_pkey PRIMARY KEY (slot_id);
CREATE INDEX provider_slot_claim_idx ON millrace.provider_slot USING btree (claim_id) WHERE (claim_id IS NOT NULL);
CREATE INDEX provider_slot_job_idx ON millrace.provider_slot USING btree (job_id) WHERE (job_id IS NOT NULL);
CREATE INDEX provider_slot_provider_idx ON millrace.provider_slot USING btree (provider_id, acquired_at);
