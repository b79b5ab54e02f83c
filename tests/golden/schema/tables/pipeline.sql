create table millrace.pipeline (
  name text not null,
  hash bytea not null,
  registered_at timestamp with time zone not null
);
alter table millrace.pipeline add constraint pipeline_name_check CHECK ((name ~ '^[a-z][a-z0-9_-]{0,62}$'::text));
alter table millrace.pipeline add constraint pipeline_pkey PRIMARY KEY (name);
alter table millrace.pipeline add constraint pipeline_version_fkey FOREIGN KEY (hash) REFERENCES millrace.pipeline_version(hash);
