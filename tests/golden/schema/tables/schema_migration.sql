create table millrace.schema_migration (
  version integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default clock_timestamp(),
  duration_ms bigint not null,
  applied_by text not null,
  binary_version text not null
);
alter table millrace.schema_migration add constraint schema_migration_pkey PRIMARY KEY (version);
