create table millrace.file_retry (
  file_id uuid not null,
  retry_at timestamp with time zone not null
);
alter table millrace.file_retry add constraint file_retry_file_fkey FOREIGN KEY (file_id) REFERENCES millrace.shell_files(id) ON DELETE CASCADE;
alter table millrace.file_retry add constraint file_retry_pkey PRIMARY KEY (file_id);
CREATE INDEX file_retry_at_idx ON millrace.file_retry USING btree (retry_at);
