create table millrace.provider_bucket (
  provider_id integer not null,
  time_window text not null,
  bucket bigint not null,
  requests bigint not null,
  tokens bigint not null
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
alter table millrace.provider_bucket add constraint provider_bucket_count_check CHECK (((requests >= 0) AND (tokens >= 0)));
alter table millrace.provider_bucket add constraint provider_bucket_limit_fkey FOREIGN KEY (provider_id) REFERENCES millrace.api_rate_limits(provider_id) ON DELETE CASCADE;
alter table millrace.provider_bucket add constraint provider_bucket_pkey PRIMARY KEY (provider_id, time_window, bucket);
alter table millrace.provider_bucket add constraint provider_bucket_window_check CHECK ((time_window = ANY (ARRAY['minute'::text, 'hour'::text])));
