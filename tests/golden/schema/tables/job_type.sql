create table millrace.job_type (
  type_id smallint generated always as identity not null,
  job_type text not null,
  queue_id smallint not null,
  required_keys text[] not null default '{}'::text[],
  required_message text,
  provider_name text,
  api_endpoint text,
  priority_default smallint,
  run_timeout interval,
  max_attempts smallint,
  enabled boolean not null default true,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp()
);
alter table millrace.job_type add constraint job_type_max_attempts_check CHECK (((max_attempts >= 1) AND (max_attempts <= 1000)));
alter table millrace.job_type add constraint job_type_name_check CHECK ((job_type ~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,126}$'::text));
alter table millrace.job_type add constraint job_type_name_key UNIQUE (job_type);
alter table millrace.job_type add constraint job_type_pkey PRIMARY KEY (type_id);
alter table millrace.job_type add constraint job_type_priority_check CHECK (((priority_default >= 0) AND (priority_default <= 1000)));
alter table millrace.job_type add constraint job_type_provider_check CHECK (((provider_name IS NULL) = (api_endpoint IS NULL)));
alter table millrace.job_type add constraint job_type_queue_fkey FOREIGN KEY (queue_id) REFERENCES millrace.queue(queue_id);
alter table millrace.job_type add constraint job_type_run_timeout_check CHECK (((run_timeout >= '00:00:00.01'::interval) AND (run_timeout <= '7 days'::interval)));
