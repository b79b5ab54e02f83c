create table millrace.schema_function (
  path text not null,
  checksum text not null,
  version integer not null,
  applied_at timestamp with time zone not null default clock_timestamp()
);
alter table millrace.schema_function add constraint schema_function_pkey PRIMARY KEY (path);
