create table millrace.file_charset (
  file_id uuid not null,
  tenant_id uuid not null,
  charset text not null
);  -- row security forced
alter table millrace.file_charset add constraint file_charset_charset_check CHECK (((octet_length(charset) >= 1) AND (octet_length(charset) <= 64)));
alter table millrace.file_charset add constraint file_charset_file_fkey FOREIGN KEY (file_id) REFERENCES millrace.shell_files(id) ON DELETE CASCADE;
alter table millrace.file_charset add constraint file_charset_pkey PRIMARY KEY (file_id);
