create table millrace.pipeline_version (
  hash bytea not null,
  name text not null,
  version text not null,
  definition jsonb not null,
  first_job jsonb not null,
  seen_at timestamp with time zone not null
);
alter table millrace.pipeline_version add constraint pipeline_version_first_job_check CHECK ((first_job ? 'job_type'::text));
alter table millrace.pipeline_version add constraint pipeline_version_hash_check CHECK ((octet_length(hash) = 32));
alter table millrace.pipeline_version add constraint pipeline_version_pkey PRIMARY KEY (hash);
