-- The server's side of the schema: tenants, profiles, API tokens, blobs, storage objects, uploads, files, HTTP requests that are done once,
-- results of compute jobs, and events in the order of their transactions.
-- Lock cost: event and job_fact get an index in place of another, job_history one of what did not complete: they hold off writers while they are built,
-- which on a schema with many jobs is best done in a quiet hour. worker gets a column, for an instant. compat: rolling

-- --- Tenants, profiles, API tokens ---

-- A tenant needs no row to exist; with one it has a name, a quota of its own, and can be disabled.
create table millrace.tenant (
  tenant_id           uuid not null,
  name                text not null,
  -- Null: what system_configuration says for all.
  quota_bytes         bigint,
  quota_files         bigint,
  -- Null: what the server is configured with; 0: no limit.
  requests_per_minute integer,
  disabled_at         timestamptz,
  disabled_reason     text,
  created_at          timestamptz not null,
  created_by          text not null,
  updated_at          timestamptz not null,
  constraint tenant_pkey primary key (tenant_id),
  constraint tenant_name_key unique (name),
  constraint tenant_name_check check (octet_length(name) between 1 and 200),
  constraint tenant_quota_check check (quota_bytes >= 0 and quota_files >= 0 and requests_per_minute >= 0)
);

-- Patients, by the account that may see them.
create table millrace.user_profiles (
  id               uuid not null,
  tenant_id        uuid not null,
  account_owner_id uuid not null,
  display_name     text not null,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  constraint user_profiles_pkey primary key (id),
  constraint user_profiles_name_check check (octet_length(display_name) between 1 and 400)
);
create index user_profiles_owner_idx on millrace.user_profiles (tenant_id, account_owner_id, id);
create index user_profiles_account_idx on millrace.user_profiles (account_owner_id);

-- Credentials that were handed out: API keys by their hash, JWTs by their jti. Never the credential itself.
create table millrace.api_token (
  token_id     uuid not null,
  tenant_id    uuid not null,
  -- False: it acts for all tenants, and tenant_id is only where the row belongs.
  confined     boolean not null,
  user_id      uuid,
  role         text not null,
  kind         text not null,
  public_id    text,
  hash         bytea,
  jti          text,
  prefix       text not null,
  name         text,
  -- Names of capabilities; empty: all of the role.
  scopes       text[] not null default '{}',
  created_at   timestamptz not null,
  created_by   text not null,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  revoked_by   text,
  -- To five minutes.
  last_used_at timestamptz,
  constraint api_token_pkey primary key (token_id),
  constraint api_token_public_id_key unique (public_id),
  constraint api_token_hash_key unique (hash),
  constraint api_token_jti_key unique (jti),
  constraint api_token_role_check check (role in ('anon', 'authenticated', 'service_role', 'reader', 'operator', 'admin')),
  constraint api_token_kind_check check ((kind = 'api_key' and octet_length(hash) = 32 and jti is null)
                                      or (kind = 'jwt' and hash is null and public_id is null and jti is not null))
) with (fillfactor = 70);
create index api_token_tenant_idx on millrace.api_token (tenant_id, token_id);

-- --- Blobs and storage ---

-- Content that rows of a tenant refer to, by its digest. Whether anybody does is decided by looking at those rows, never by a count.
create table millrace.blob_object (
  tenant_id    uuid not null,
  sha256       bytea not null,
  size_bytes   bigint not null,
  -- By the content, not by what somebody called it.
  content_type text not null,
  store_key    text not null,
  created_at   timestamptz not null,
  -- Nobody refers to it: its bytes may be removed, then the row.
  condemned_at timestamptz,
  constraint blob_object_pkey primary key (tenant_id, sha256),
  constraint blob_object_sha256_check check (octet_length(sha256) = 32),
  constraint blob_object_size_check check (size_bytes >= 0)
);
create index blob_object_sha256_idx on millrace.blob_object (sha256);
create index blob_object_store_key_idx on millrace.blob_object (store_key);
create index blob_object_condemned_idx on millrace.blob_object (condemned_at) where condemned_at is not null;

-- A reference to this content went away: somebody should look whether it was the last. Appended, so that nobody waits for it.
create table millrace.orphan_note (
  note_id   bigint generated always as identity,
  tenant_id uuid not null,
  sha256    bytea not null,
  noted_at  timestamptz not null,
  constraint orphan_note_pkey primary key (note_id)
);
create index orphan_note_noted_idx on millrace.orphan_note (noted_at);

create table millrace.storage_bucket (
  bucket             text not null,
  file_size_limit    bigint,
  allowed_mime_types text[],
  created_at         timestamptz not null default clock_timestamp(),
  constraint storage_bucket_pkey primary key (bucket),
  constraint storage_bucket_name_check check (bucket ~ '^[a-z0-9][a-z0-9_.-]{0,62}$')
);
insert into millrace.storage_bucket (bucket) values ('medical-docs'), ('exports');

create table millrace.storage_object (
  object_id     uuid not null,
  tenant_id     uuid not null,
  bucket        text not null,
  -- In the order of its bytes, so that a prefix is a range.
  name          text collate "C" not null,
  owner_id      uuid,
  sha256        bytea not null,
  size_bytes    bigint not null,
  content_type  text not null,
  cache_control text not null,
  user_metadata jsonb,
  -- A file row names it. Documents that none does are removed after a while.
  claimed       boolean not null default false,
  created_at    timestamptz not null,
  updated_at    timestamptz not null,
  constraint storage_object_pkey primary key (object_id),
  constraint storage_object_name_key unique (tenant_id, bucket, name),
  constraint storage_object_bucket_fkey foreign key (bucket) references millrace.storage_bucket (bucket),
  -- The last safeguard: content that something refers to cannot be forgotten.
  constraint storage_object_blob_fkey foreign key (tenant_id, sha256) references millrace.blob_object (tenant_id, sha256),
  constraint storage_object_name_check check (octet_length(name) between 1 and 1024 and name ~ '^[A-Za-z0-9_/!.*''() &$=@;:+,?-]+$'
    and name !~ '(^|/)(\.{0,2})(/|$)')
);
create index storage_object_blob_idx on millrace.storage_object (tenant_id, sha256);
create index storage_object_find_idx on millrace.storage_object (bucket, name);
create index storage_object_unclaimed_idx on millrace.storage_object (updated_at) where bucket = 'medical-docs' and not claimed;

-- What a tenant stores: the sum, and what was added since. Whoever reserves holds the row, and folds.
create table millrace.tenant_usage (
  tenant_id  uuid not null,
  used_bytes bigint not null default 0,
  used_files bigint not null default 0,
  constraint tenant_usage_pkey primary key (tenant_id)
) with (fillfactor = 50);
create table millrace.usage_delta (
  delta_id  bigint generated always as identity,
  tenant_id uuid not null,
  bytes     bigint not null,
  files     bigint not null,
  constraint usage_delta_pkey primary key (delta_id)
);
create index usage_delta_tenant_idx on millrace.usage_delta (tenant_id);

-- --- Uploads and files ---

-- One upload under way: what was announced, what is reserved for it, how far it came. A row that has expired reserves nothing.
create table millrace.upload (
  upload_id       uuid not null,
  tenant_id       uuid not null,
  user_id         uuid,
  -- 'file' becomes a storage object, a row in shell_files and its first job; 'object' a storage object alone.
  kind            text not null,
  bucket          text not null,
  object_name     text,
  replace         boolean not null default false,
  patient_id      uuid,
  file_name       text,
  declared_type   text,
  cache_control   text,
  metadata        jsonb,
  idempotency_key text,
  correlation_id  text,
  traceparent     text,
  -- Null: not known before its end.
  size_bytes      bigint,
  reserved_bytes  bigint not null,
  offset_bytes    bigint not null default 0,
  ttl             interval not null,
  state           text not null default 'open',
  -- Who may append, until when.
  writer          uuid,
  writer_until    timestamptz,
  sha256          bytea,
  answer          jsonb,
  created_at      timestamptz not null,
  expires_at      timestamptz not null,
  constraint upload_pkey primary key (upload_id),
  constraint upload_kind_check check (kind in ('file', 'object')),
  constraint upload_state_check check (state in ('open', 'done', 'aborted')),
  constraint upload_done_check check ((state = 'done') = (answer is not null)),
  constraint upload_offset_check check (offset_bytes >= 0 and reserved_bytes >= 0 and (size_bytes is null or offset_bytes <= size_bytes))
) with (fillfactor = 70);
create index upload_open_idx on millrace.upload (tenant_id) include (reserved_bytes, expires_at) where state = 'open';
create index upload_expires_idx on millrace.upload (expires_at);

-- The pieces of an upload in the order they were accepted. A piece that is not listed does not count, whoever wrote it.
create table millrace.upload_part (
  upload_id    uuid not null,
  offset_bytes bigint not null,
  tenant_id    uuid not null,
  size_bytes   bigint not null,
  -- Where the server put it: a key of the blob store, or a name in its staging folder.
  handle       text not null,
  created_at   timestamptz not null,
  constraint upload_part_pkey primary key (upload_id, offset_bytes),
  constraint upload_part_size_check check (size_bytes > 0),
  constraint upload_part_handle_check check (octet_length(handle) between 1 and 1024)
);
create index upload_part_handle_idx on millrace.upload_part (handle);

create table millrace.shell_files (
  id               uuid not null,
  tenant_id        uuid not null,
  owner_id         uuid not null,
  patient_id       uuid not null,
  bucket           text not null default 'medical-docs',
  storage_path     text collate "C" not null,
  file_name        text not null,
  content_type     text not null,
  size_bytes       bigint not null,
  sha256           bytea not null,
  idempotency_key  text,
  status           text not null default 'uploaded',
  processing_error jsonb,
  -- Its first job; null while an operator has switched enqueue off.
  job_id           uuid,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  constraint shell_files_pkey primary key (id),
  -- Per owner, and the whole of it: rows without a key do not meet.
  constraint shell_files_idempotency_key unique (tenant_id, owner_id, idempotency_key),
  constraint shell_files_patient_fkey foreign key (patient_id) references millrace.user_profiles (id) on delete cascade,
  constraint shell_files_key_check check (octet_length(idempotency_key) between 1 and 1024),
  constraint shell_files_name_check check (octet_length(file_name) between 1 and 1024),
  constraint shell_files_status_check check (status in ('uploaded', 'processing', 'completed', 'failed'))
);
create index shell_files_owner_idx on millrace.shell_files (tenant_id, owner_id, id);
create index shell_files_patient_idx on millrace.shell_files (patient_id, id);
create index shell_files_path_idx on millrace.shell_files (tenant_id, bucket, storage_path);
create index shell_files_waiting_idx on millrace.shell_files (created_at) where job_id is null;

create table millrace.export_history (
  id               uuid not null,
  tenant_id        uuid not null,
  user_id          uuid not null,
  document_id      uuid,
  document_version integer,
  format           text not null default 'pdf',
  template_slug    text,
  file_name        text not null,
  file_path        text collate "C" not null,
  file_size        bigint not null,
  download_count   integer not null default 0,
  job_id           uuid,
  batch_id         uuid,
  expires_at       timestamptz not null,
  created_at       timestamptz not null,
  constraint export_history_pkey primary key (id),
  constraint export_history_format_check check (format in ('pdf')),
  constraint export_history_size_check check (file_size >= 0),
  constraint export_history_count_check check (download_count >= 0),
  -- A job that is settled again writes its history once.
  constraint export_history_job_key unique (job_id)
);
create index export_history_expires_idx on millrace.export_history (expires_at);
create index export_history_user_idx on millrace.export_history (user_id, created_at desc);

-- --- Requests that are done once ---

create table millrace.http_request (
  tenant_id   uuid not null,
  -- Who asks, and for which route.
  scope       text not null,
  request_key text not null,
  fingerprint bytea not null,
  state       text not null,
  -- Of whoever does it now; a process that was given up has an old one.
  token       uuid not null,
  lease_until timestamptz not null,
  status      integer,
  headers     jsonb,
  body        bytea,
  effect      jsonb,
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  constraint http_request_pkey primary key (tenant_id, scope, request_key),
  constraint http_request_state_check check (state in ('running', 'done')),
  constraint http_request_done_check check ((state = 'done') = (status is not null or effect is not null)),
  constraint http_request_body_check check (octet_length(body) <= 262144)
);
create index http_request_expires_idx on millrace.http_request (expires_at);

-- --- Compute ---

-- One row per question that was asked: the job that answers it. The key has tenant, app and all that the answer depends on in it.
create table millrace.compute_job (
  tenant_id   uuid not null,
  app_id      text not null,
  compute_key bytea not null,
  inputs_hash text not null,
  definition  text not null,
  version     text not null,
  job_id      uuid not null,
  asked_at    timestamptz not null,
  constraint compute_job_pkey primary key (tenant_id, app_id, compute_key),
  constraint compute_job_key_check check (octet_length(compute_key) = 32),
  constraint compute_job_hash_check check (inputs_hash ~ '^[0-9a-f]{64}$')
);
create index compute_job_asked_idx on millrace.compute_job (asked_at);

create table millrace.result (
  id           uuid not null,
  job_id       uuid not null,
  tenant_id    uuid not null,
  outputs_json jsonb not null,
  score        numeric,
  created_at   timestamptz not null,
  constraint result_pkey primary key (id),
  constraint result_job_key unique (job_id)
);
create index result_created_idx on millrace.result (created_at);

-- Files that a job made. A URL is signed when somebody asks; none is kept.
create table millrace.artifact (
  id           uuid not null,
  job_id       uuid not null,
  tenant_id    uuid not null,
  kind         text not null,
  file_name    text,
  sha256       bytea not null,
  size_bytes   bigint not null,
  content_type text not null,
  -- Null: as long as its job is known.
  expires_at   timestamptz,
  created_at   timestamptz not null,
  constraint artifact_pkey primary key (id),
  constraint artifact_blob_fkey foreign key (tenant_id, sha256) references millrace.blob_object (tenant_id, sha256),
  constraint artifact_kind_check check (kind ~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,62}$')
);
create index artifact_job_idx on millrace.artifact (job_id);
create index artifact_blob_idx on millrace.artifact (tenant_id, sha256);
create index artifact_created_idx on millrace.artifact (created_at);
create index artifact_expires_idx on millrace.artifact (expires_at) where expires_at is not null;

-- --- Events in the order of their transactions ---

drop index millrace.event_id_idx;
create index event_xid_idx on millrace.event (xid, event_id);
-- The last event that retention has removed: whoever read no further cannot be told what it missed.
create table millrace.event_floor (
  only_row boolean not null default true,
  xid      xid8 not null default '0'::xid8,
  constraint event_floor_pkey primary key (only_row),
  constraint event_floor_one_row_check check (only_row)
);
insert into millrace.event_floor default values;

-- --- Jobs, workers, rates ---

-- What failed or was cancelled of a tenant, newest first; and the jobs of a batch, however many.
create index job_history_tenant_idx on millrace.job_history (tenant_id, status, job_id) where status <> 'completed';
drop index millrace.job_fact_batch_idx;
create index job_fact_batch_idx on millrace.job_fact (batch_id, job_id) where batch_id is not null;

-- The API token that a remote worker came with.
alter table millrace.worker add column token_id uuid;

-- How fast a queue ends its jobs: sampled from the counters by whoever folds them.
create table millrace.queue_rate (
  queue_id   smallint not null,
  sampled_at timestamptz not null,
  ended      bigint not null,
  per_second double precision not null,
  constraint queue_rate_pkey primary key (queue_id),
  constraint queue_rate_queue_fkey foreign key (queue_id) references millrace.queue (queue_id) on delete cascade
) with (fillfactor = 50);

-- What the API says of a job: from the one place it lies in, with its fact.
create type millrace.job_brief as (
  job_id              uuid,
  tenant_id           uuid,
  queue               text,
  job_type            text,
  job_name            text,
  status              text,
  stage               text,
  reason              text,
  priority            integer,
  attempt             integer,
  max_attempts        integer,
  delivery_count      integer,
  generation          integer,
  progress            integer,
  progress_message    text,
  progress_data       jsonb,
  cancel_requested_at timestamptz,
  worker_id           text,
  created_at          timestamptz,
  scheduled_at        timestamptz,
  started_at          timestamptz,
  finished_at         timestamptz,
  batch_id            uuid,
  parent_id           uuid,
  owner_id            uuid,
  correlation_id      text,
  result              jsonb,
  error               jsonb
);

insert into millrace.system_configuration (config_key, config_value, config_type, description, is_sensitive) values
  ('tenant.quota_bytes',            '107374182400', 'system', 'Bytes a tenant without a quota of its own may store; 0: no limit', false),
  ('tenant.quota_files',            '1000000', 'system', 'Objects a tenant without a quota of its own may store; 0: no limit', false),
  ('upload.size_max_bytes',         '5368709120', 'system', 'Bytes of one upload at most', false),
  ('upload.ttl_seconds',            '86400', 'system', 'An upload that makes no progress is given up after this', false),
  ('storage.orphan_grace_seconds',  '86400', 'system', 'Content that nothing refers to is kept for this long', false),
  ('export.ttl_seconds',            '604800', 'system', 'Exports are kept for this long', false),
  ('compute.result_ttl_seconds',    '300', 'system', 'The result of a compute job answers equal questions for this long', false)
on conflict (config_key) do nothing;

insert into millrace.sqlstate (code, name, meaning) values
  ('MR026', 'tenant_disabled',   'An operator has disabled the tenant: it can neither enqueue nor read.'),
  ('MR027', 'quota_exceeded',    'The tenant stores, or has announced, as much as it may.'),
  ('MR028', 'upload_not_found',  'No upload of this caller has this id, or it was given up.'),
  ('MR029', 'upload_conflict',   'The upload stands elsewhere than the caller believes, or somebody else appends to it.'),
  ('MR030', 'object_exists',     'An object of this name exists, and was not to be replaced.'),
  ('MR031', 'object_not_found',  'No object of this name is there for this caller.'),
  ('MR032', 'maintenance',       'Uploads are not taken in while system.maintenance_mode is set.'),
  ('MR033', 'request_taken',     'The request was given up and is done by somebody else: what this one did is undone.'),
  ('MR034', 'tenant_not_found',  'No tenant has this id.'),
  ('MR035', 'token_not_found',   'No API token has this id.'),
  ('MR036', 'profile_not_found', 'No profile of this caller has this id.'),
  ('MR037', 'blob_stale',        'The content was stored too long ago to be referred to now: store it again.'),
  ('MR038', 'upload_too_large',  'The upload is larger than announced, or than uploads may be.'),
  ('MR039', 'file_not_found',    'No file of this caller has this id.');
