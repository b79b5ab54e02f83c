create table millrace.api_rate_limit_override (
  provider_name text not null,
  api_endpoint text not null,
  requests_per_minute integer,
  requests_per_hour integer,
  tokens_per_minute bigint,
  tokens_per_hour bigint,
  concurrent_requests integer,
  status text,
  reason text not null,
  set_by text not null,
  set_at timestamp with time zone not null default clock_timestamp(),
  expires_at timestamp with time zone
);
alter table millrace.api_rate_limit_override add constraint api_rate_limit_override_limit_fkey FOREIGN KEY (provider_name, api_endpoint) REFERENCES millrace.api_rate_limits(provider_name, api_endpoint) ON UPDATE CASCADE ON DELETE CASCADE;
alter table millrace.api_rate_limit_override add constraint api_rate_limit_override_pkey PRIMARY KEY (provider_name, api_endpoint);
alter table millrace.api_rate_limit_override add constraint api_rate_limit_override_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text, 'maintenance'::text])));
