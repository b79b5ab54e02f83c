create table millrace.http_request (
  tenant_id uuid not null,
  scope text not null,
  request_key text not null,
  fingerprint bytea not null,
  state text not null,
  token uuid not null,
  lease_until timestamp with time zone not null,
  status integer,
  headers jsonb,
  body bytea,
  effect jsonb,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null
);  -- row security forced
alter table millrace.http_request add constraint http_request_body_check CHECK ((octet_length(body) <= 262144));
alter table millrace.http_request add constraint http_request_done_check CHECK (((state = 'done'::text) = ((status IS NOT NULL) OR (effect IS NOT NULL))));
alter table millrace.http_request add constraint http_request_pkey PRIMARY KEY (tenant_id, scope, request_key);
alter table millrace.http_request add constraint http_request_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text])));
CREATE INDEX http_request_expires_idx ON millrace.http_request USING btree (expires_at);
