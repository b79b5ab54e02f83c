create table millrace.idempotency_key (
  tenant_id uuid not null,
  idempotency_key text not null,
  request_hash bytea not null,
  job_id uuid not null,
  created_at timestamp with time zone not null
);  -- row security forced
alter table millrace.idempotency_key add constraint idempotency_key_pkey PRIMARY KEY (tenant_id, idempotency_key);
CREATE INDEX idempotency_key_created_idx ON millrace.idempotency_key USING btree (created_at);
