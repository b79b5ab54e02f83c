create table millrace.provider_call (
  call_id uuid not null,
  tenant_id uuid not null,
  job_id uuid,
  generation integer not null,
  delivery_count integer not null,
  stage text not null,
  provider text not null,
  model text not null,
  request_sha256 bytea not null,
  day date not null,
  state text not null default 'sent'::text,
  reserved_micros bigint not null,
  cost_micros bigint,
  estimated_tokens bigint not null,
  input_tokens bigint,
  output_tokens bigint,
  finish text,
  response_id text,
  error text,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  capacity jsonb
);  -- row security forced
alter table millrace.provider_call add constraint provider_call_cost_check CHECK (((reserved_micros >= 0) AND (cost_micros >= 0)));
alter table millrace.provider_call add constraint provider_call_pkey PRIMARY KEY (call_id);
alter table millrace.provider_call add constraint provider_call_state_check CHECK ((state = ANY (ARRAY['sent'::text, 'answered'::text, 'failed'::text, 'unknown'::text])));
CREATE INDEX provider_call_job_idx ON millrace.provider_call USING btree (job_id);
CREATE INDEX provider_call_started_idx ON millrace.provider_call USING btree (started_at);
