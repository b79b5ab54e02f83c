-- What users export: data and the template it is shown with, in versions. An order names the version that was current when it was made, and the file that comes of it shows that version,
-- whatever is written meanwhile (F06). Limits of exports become settings.
-- Lock cost: new tables, and columns without a default for reservations (a short exclusive lock). compat: rolling

create table millrace.export_document (
  document_id uuid not null,
  tenant_id   uuid not null,
  user_id     uuid not null,
  -- Of the current version.
  version     integer not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  constraint export_document_pkey primary key (document_id),
  constraint export_document_version_check check (version >= 1)
) with (fillfactor = 80);
create index export_document_user_idx on millrace.export_document (tenant_id, user_id, document_id);

-- Written once. Versions that no order can name any more are removed with the exports that named them.
create table millrace.export_document_version (
  document_id   uuid not null,
  version       integer not null,
  tenant_id     uuid not null,
  title         text not null,
  template_slug text not null,
  data          jsonb not null,
  -- Of title, template and data: what makes a file another one.
  content_sha256 bytea not null,
  created_at    timestamptz not null,
  constraint export_document_version_pkey primary key (document_id, version),
  constraint export_document_version_document_fkey foreign key (document_id) references millrace.export_document (document_id) on delete cascade,
  constraint export_document_version_title_check check (octet_length(title) between 1 and 512),
  constraint export_document_version_template_check check (template_slug ~ '^[a-z][a-z0-9_-]{0,62}$'),
  constraint export_document_version_hash_check check (octet_length(content_sha256) = 32)
);

-- What an order is for, and, once its file is known, where that will lie: chosen once for a job, however often it is delivered.
alter table millrace.export_reservation
  add column document_id      uuid,
  add column document_version integer,
  add column file_path        text collate "C";
create index export_reservation_document_idx on millrace.export_reservation (document_id, document_version) where document_id is not null;
create index export_history_document_idx on millrace.export_history (document_id, document_version) where document_id is not null;

-- Orders of a user on the latest day (UTC) on which there were any.
create table millrace.export_usage (
  tenant_id  uuid not null,
  user_id    uuid not null,
  day        date not null,
  operations integer not null,
  constraint export_usage_pkey primary key (tenant_id, user_id),
  constraint export_usage_operations_check check (operations >= 0)
) with (fillfactor = 80);

insert into millrace.system_configuration (config_key, config_value, config_type, description, is_sensitive) values
  ('export.quota_bytes',       '104857600', 'system', 'Bytes of exports that a user may have at a time', false),
  ('export.operations_per_day', '100', 'system', 'Exports that a user may order in a day (UTC)', false),
  ('export.running_max',       '3', 'system', 'New orders are refused while so many exports of the user run', false),
  ('export.cleanup_minute',    '120', 'system', 'Exports that have expired are removed daily, so many minutes after midnight (UTC)', false),
  ('export.data_max_bytes',    '1048576', 'system', 'Bytes of the data of one export document at most', false),
  ('export.documents_max',     '10000', 'system', 'Export documents that a user may have', false)
on conflict (config_key) do nothing;

insert into millrace.sqlstate (code, name, meaning) values
  ('MR043', 'export_document_not_found', 'No export document of this caller has this id.'),
  ('MR044', 'operations_exhausted',      'The user has ordered as many exports today as one may.')
on conflict (code) do nothing;
