-- Documents: the pages of a file, what each stage made of each page, clinical facts, outputs, content that crashed its readers, and what calls to
-- paid providers cost.
-- Lock cost: shell_files and upload are read once for their checks; otherwise new tables. compat: rolling

alter table millrace.shell_files
  drop constraint shell_files_status_check,
  add constraint shell_files_status_check check (status in ('uploaded', 'processing', 'completed', 'partial', 'failed', 'rejected')),
  drop constraint shell_files_pipeline_check,
  add constraint shell_files_pipeline_check check (pipeline ~ '^[a-z][a-z0-9_-]{0,62}$');
alter table millrace.upload
  drop constraint upload_pipeline_check,
  add constraint upload_pipeline_check check (pipeline ~ '^[a-z][a-z0-9_-]{0,62}$');

-- Every form of a pipeline that a document began with. A change of the file is a new row; documents under way finish on theirs.
create table millrace.pipeline_version (
  hash       bytea not null,
  name       text not null,
  version    text not null,
  definition jsonb not null,
  -- The job that a file begins with: job_type, queue, max_attempts, run_timeout_seconds.
  first_job  jsonb not null,
  seen_at    timestamptz not null,
  constraint pipeline_version_pkey primary key (hash),
  constraint pipeline_version_hash_check check (octet_length(hash) = 32),
  constraint pipeline_version_first_job_check check (first_job ? 'job_type')
);

-- What new files may be sent into, as the workers that started last know it. guardian and ingest are there without a row.
create table millrace.pipeline (
  name          text not null,
  hash          bytea not null,
  registered_at timestamptz not null,
  constraint pipeline_pkey primary key (name),
  constraint pipeline_version_fkey foreign key (hash) references millrace.pipeline_version (hash),
  constraint pipeline_name_check check (name ~ '^[a-z][a-z0-9_-]{0,62}$' and name <> 'ingest')
);

-- A file that is being processed, or was. The row is locked by whoever starts or ends a stage of it.
create table millrace.document (
  file_id       uuid not null,
  tenant_id     uuid not null,
  pipeline_hash bytea not null,
  -- Counts the times it was begun: uploads, retries.
  run           integer not null default 1,
  state         text not null default 'processing',
  stage         text,
  kind          text,
  mime          text,
  findings      jsonb not null default '[]',
  -- What the passes say of all of it: type, language, counts.
  summary       jsonb not null default '{}',
  page_count    integer,
  -- What it waits for: a job, or the jobs of a batch.
  job_id        uuid,
  batch_id      uuid,
  started_at    timestamptz not null,
  updated_at    timestamptz not null,
  finished_at   timestamptz,
  constraint document_pkey primary key (file_id),
  constraint document_file_fkey foreign key (file_id) references millrace.shell_files (id) on delete cascade,
  constraint document_pipeline_fkey foreign key (pipeline_hash) references millrace.pipeline_version (hash),
  constraint document_state_check check (state in ('processing', 'completed', 'partial', 'failed', 'rejected')),
  constraint document_finished_check check ((state = 'processing') = (finished_at is null))
) with (fillfactor = 70);
create index document_tenant_idx on millrace.document (tenant_id, file_id);
create index document_live_idx on millrace.document (updated_at) where state = 'processing';

create table millrace.page (
  file_id        uuid not null,
  page           integer not null,
  tenant_id      uuid not null,
  -- Of what the page shows: equal content is read once per tenant.
  content_sha256 bytea not null,
  width_pt       double precision,
  height_pt      double precision,
  rotation_deg   integer not null default 0,
  text_chars     integer not null default 0,
  state          text not null default 'pending',
  failed_stage   text,
  failed_reason  text,
  constraint page_pkey primary key (file_id, page),
  constraint page_document_fkey foreign key (file_id) references millrace.document (file_id) on delete cascade,
  constraint page_number_check check (page between 1 and 5000),
  constraint page_sha256_check check (octet_length(content_sha256) = 32),
  constraint page_state_check check (state in ('pending', 'completed', 'failed')),
  constraint page_failed_check check ((state = 'failed') = (failed_stage is not null))
) with (fillfactor = 80);
create index page_content_idx on millrace.page (tenant_id, content_sha256);

-- What a stage made of a page, or (page 0) of the whole document: one row, replaced when the stage runs again.
create table millrace.page_result (
  file_id    uuid not null,
  page       integer not null,
  stage      text not null,
  tenant_id  uuid not null,
  -- Of all that the result depends on: content or earlier results, stage, version of the stage.
  reuse_key  bytea not null,
  sha256     bytea not null,
  size_bytes bigint not null,
  meta       jsonb not null default '{}',
  job_id     uuid,
  run        integer not null,
  reused     boolean not null default false,
  created_at timestamptz not null,
  constraint page_result_pkey primary key (file_id, page, stage),
  constraint page_result_document_fkey foreign key (file_id) references millrace.document (file_id) on delete cascade,
  constraint page_result_blob_fkey foreign key (tenant_id, sha256) references millrace.blob_object (tenant_id, sha256),
  constraint page_result_key_check check (octet_length(reuse_key) = 32),
  constraint page_result_page_check check (page between 0 and 5000)
) with (fillfactor = 80);
create index page_result_reuse_idx on millrace.page_result (tenant_id, stage, reuse_key);
create index page_result_blob_idx on millrace.page_result (tenant_id, sha256);

-- What documents say of patients, each with its evidence. Replaced page by page; every write is audited with the patient.
create table millrace.clinical_fact (
  id          uuid not null,
  tenant_id   uuid not null,
  patient_id  uuid not null,
  file_id     uuid not null,
  page        integer not null,
  fact_id     text not null,
  type        text not null,
  name        text not null,
  subject     text not null,
  polarity    text not null,
  certainty   text not null,
  temporality text not null,
  value       jsonb not null,
  codes       jsonb not null default '[]',
  evidence    jsonb not null,
  conf        double precision not null,
  -- 'accepted', or 'review' by a person.
  route       text not null,
  dated       text,
  job_id      uuid,
  created_at  timestamptz not null,
  constraint clinical_fact_pkey primary key (id),
  constraint clinical_fact_page_key unique (file_id, page, fact_id),
  constraint clinical_fact_document_fkey foreign key (file_id) references millrace.document (file_id) on delete cascade,
  constraint clinical_fact_route_check check (route in ('accepted', 'review'))
);
create index clinical_fact_patient_idx on millrace.clinical_fact (tenant_id, patient_id, type, id);

-- What a finished document is handed out as. URLs are signed when somebody asks.
create table millrace.document_output (
  file_id      uuid not null,
  kind         text not null,
  -- 0: of the whole document.
  page         integer not null default 0,
  tenant_id    uuid not null,
  file_name    text not null,
  content_type text not null,
  sha256       bytea not null,
  size_bytes   bigint not null,
  job_id       uuid,
  created_at   timestamptz not null,
  constraint document_output_pkey primary key (file_id, kind, page),
  constraint document_output_document_fkey foreign key (file_id) references millrace.document (file_id) on delete cascade,
  constraint document_output_blob_fkey foreign key (tenant_id, sha256) references millrace.blob_object (tenant_id, sha256),
  constraint document_output_kind_check check (kind ~ '^[a-z][a-z0-9_]{0,31}$')
);
create index document_output_blob_idx on millrace.document_output (tenant_id, sha256);

-- Content under which a child died three times: it is not read again until an operator says so.
create table millrace.quarantine (
  tenant_id      uuid not null,
  sha256         bytea not null,
  what           text not null,
  stage          text not null,
  reason         text not null,
  file_id        uuid,
  page           integer,
  quarantined_at timestamptz not null,
  released_at    timestamptz,
  released_by    text,
  constraint quarantine_pkey primary key (tenant_id, sha256),
  constraint quarantine_what_check check (what in ('file', 'page'))
);

-- Calls to paid providers: the intent before the call is sent, tokens, cost and the answer's id after. What was sent and not answered may have been paid for.
create table millrace.provider_call (
  call_id          uuid not null,
  tenant_id        uuid not null,
  job_id           uuid not null,
  generation       integer not null,
  delivery_count   integer not null,
  stage            text not null,
  provider         text not null,
  model            text not null,
  -- What was asked, with the version of the prompt; never the text.
  request_sha256   bytea not null,
  day              date not null,
  state            text not null default 'sent',
  reserved_micros  bigint not null,
  cost_micros      bigint,
  estimated_tokens bigint not null,
  input_tokens     bigint,
  output_tokens    bigint,
  finish           text,
  response_id      text,
  error            text,
  started_at       timestamptz not null,
  ended_at         timestamptz,
  constraint provider_call_pkey primary key (call_id),
  constraint provider_call_state_check check (state in ('sent', 'answered', 'failed', 'unknown')),
  constraint provider_call_cost_check check (reserved_micros >= 0 and cost_micros >= 0)
);
create index provider_call_job_idx on millrace.provider_call (job_id);
create index provider_call_started_idx on millrace.provider_call (started_at);

-- Millionths of the currency that prices are configured in. A tenant without a row has the budget that system_configuration names.
create table millrace.provider_budget (
  tenant_id      uuid not null,
  provider       text not null,
  micros_per_day bigint not null,
  updated_at     timestamptz not null,
  constraint provider_budget_pkey primary key (tenant_id, provider),
  constraint provider_budget_amount_check check (micros_per_day >= 0)
);
create table millrace.provider_spend (
  tenant_id       uuid not null,
  provider        text not null,
  day             date not null,
  reserved_micros bigint not null default 0,
  spent_micros    bigint not null default 0,
  calls           bigint not null default 0,
  constraint provider_spend_pkey primary key (tenant_id, provider, day)
) with (fillfactor = 50);

insert into millrace.job_type (job_type, queue_id, required_keys, required_message)
select t.job_type, q.queue_id, array['shell_file_id'], 'document jobs require shell_file_id in payload'
  from (values ('document_outputs'), ('document_image')) as t (job_type) join millrace.queue q on q.queue = 'fast_queue'
on conflict (job_type) do nothing;

insert into millrace.system_configuration (config_key, config_value, config_type, description, is_sensitive) values
  ('budget.micros_per_day', '0', 'system', 'What a tenant may spend on one provider in a day (UTC), in millionths of the currency of prices; 0: no limit', false),
  ('retention.call_days', '90', 'system', 'Calls to paid providers are kept for this long; what was spent in a day for longer', false)
on conflict (config_key) do nothing;

insert into millrace.sqlstate (code, name, meaning) values
  ('MR041', 'document_not_found', 'No document of this caller has this id.'),
  ('MR042', 'document_busy',      'The document is being processed: wait for its end, or cancel its jobs.')
on conflict (code) do nothing;
