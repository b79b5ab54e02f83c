-- The charset that the sender of a text declared (Content-Type of the upload): the type of a file is judged by its content, which does not say in what its letters are written.
-- Lock cost: a new table. compat: rolling

create table millrace.file_charset (
  file_id   uuid not null,
  tenant_id uuid not null,
  charset   text not null,
  constraint file_charset_pkey primary key (file_id),
  constraint file_charset_file_fkey foreign key (file_id) references millrace.shell_files (id) on delete cascade,
  constraint file_charset_charset_check check (octet_length(charset) between 1 and 64)
);
