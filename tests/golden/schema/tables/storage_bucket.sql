create table millrace.storage_bucket (
  bucket text not null,
  file_size_limit bigint,
  allowed_mime_types text[],
  created_at timestamp with time zone not null default clock_timestamp()
);
alter table millrace.storage_bucket add constraint storage_bucket_name_check CHECK ((bucket ~ '^[a-z0-9][a-z0-9_.-]{0,62}$'::text));
alter table millrace.storage_bucket add constraint storage_bucket_pkey PRIMARY KEY (bucket);
