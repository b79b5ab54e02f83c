-- Ingest: what becomes of a document that is parsed, cut into chunks, embedded and searched. All chunks of one parse belong to a generation; they are buffered while it is built, and
-- published by one switch, so that nobody ever sees half of one or a mixture of two (F07, G06).
-- Lock cost: the check of millrace.pipeline is replaced; otherwise new tables. compat: rolling

alter table millrace.pipeline
  drop constraint pipeline_name_check,
  add constraint pipeline_name_check check (name ~ '^[a-z][a-z0-9_-]{0,62}$');

-- Vectors of one model and version can be compared; their length is known here and nowhere else (B-14). Null until the first answer of a service that does not say it before.
create table millrace.embedding_model (
  embed_model   text not null,
  embed_version text not null,
  dimension     integer,
  registered_at timestamptz not null,
  constraint embedding_model_pkey primary key (embed_model, embed_version),
  constraint embedding_model_dimension_check check (dimension between 1 and 16000)
);

create table millrace.generation (
  generation_id   uuid not null,
  tenant_id       uuid not null,
  file_id         uuid not null,
  -- Of the normalised Markdown, computed here and never taken from a sender (B-07).
  parsed_sha256   bytea not null,
  parse_id        uuid not null,
  parser_name     text not null,
  parser_version  text not null,
  chunker_name    text not null,
  chunker_version text not null,
  params_sha256   bytea not null,
  embed_model     text not null,
  embed_version   text not null,
  -- Of the text, as BCP 47; null: not known.
  language        text,
  -- building: chunks and vectors are in the buffers; published: they are in document_chunks; superseded: a later one was published.
  state           text not null default 'building',
  chunks_total    integer,
  created_at      timestamptz not null,
  published_at    timestamptz,
  -- One that is read, one that is built; of those that were there may be many.
  place           text generated always as (case when state <> 'superseded' then state end) stored,
  constraint generation_place_key unique (file_id, place),
  constraint generation_pkey primary key (generation_id),
  constraint generation_document_fkey foreign key (file_id) references millrace.document (file_id) on delete cascade,
  constraint generation_model_fkey foreign key (embed_model, embed_version) references millrace.embedding_model (embed_model, embed_version),
  constraint generation_state_check check (state in ('building', 'published', 'superseded')),
  constraint generation_published_check check ((state = 'building') = (published_at is null)),
  constraint generation_hashes_check check (octet_length(parsed_sha256) = 32 and octet_length(params_sha256) = 32)
) with (fillfactor = 80);
create index generation_document_idx on millrace.generation (file_id, created_at);
create index generation_parsed_idx on millrace.generation (tenant_id, parsed_sha256);
-- What the keeper removes: what was built and never published, and what was once read.
create index generation_left_idx on millrace.generation (created_at) where state <> 'published';

create table millrace.document_chunk_buffer (
  generation_id   uuid not null,
  chunk_id        uuid not null,
  content_id      uuid not null,
  tenant_id       uuid not null,
  document_id     uuid not null,
  chunk_ord       integer not null,
  chunker_name    text not null,
  chunker_version text not null,
  chunk_sha       text not null,
  text            text not null,
  -- {"page", "section", "headings", "offsets", "prefix", "suffix", "overlap", "blocks", "tokens", "tokenizer"}
  meta            jsonb not null,
  -- Of what is embedded: equal texts have equal vectors.
  embed_sha256    bytea not null,
  -- As in document_chunks: publishing copies and computes nothing.
  config          regconfig not null,
  words           tsvector not null,
  created_at      timestamptz not null,
  constraint document_chunk_buffer_pkey primary key (generation_id, chunk_id),
  constraint document_chunk_buffer_generation_fkey foreign key (generation_id) references millrace.generation (generation_id) on delete cascade,
  constraint document_chunk_buffer_ord_key unique (generation_id, chunk_ord),
  constraint document_chunk_buffer_ord_check check (chunk_ord >= 0),
  constraint document_chunk_buffer_sha_check check (octet_length(embed_sha256) = 32)
);
create index document_chunk_buffer_embed_idx on millrace.document_chunk_buffer (tenant_id, embed_sha256);
create index idx_chunk_buffer_document on millrace.document_chunk_buffer (document_id);
create index idx_chunk_buffer_for_embedding on millrace.document_chunk_buffer (document_id, chunker_name, chunker_version);

create table millrace.document_vector_buffer (
  buffer_id     uuid not null,
  generation_id uuid not null,
  chunk_id      uuid not null,
  tenant_id     uuid not null,
  document_id   uuid not null,
  embed_model   text not null,
  embed_version text not null,
  -- real[], or vector where the server has that type (sql/policies/70_vector_type.sql).
  vector        real[] not null,
  vector_sha    text not null,
  signature     bit varying not null,
  batch_id      uuid not null,
  created_at    timestamptz not null,
  constraint document_vector_buffer_pkey primary key (buffer_id),
  constraint document_vector_buffer_chunk_fkey foreign key (generation_id, chunk_id) references millrace.document_chunk_buffer (generation_id, chunk_id) on delete cascade,
  constraint document_vector_buffer_chunk_key unique (generation_id, chunk_id, embed_model, embed_version)
);
create index idx_vector_buffer_document on millrace.document_vector_buffer (document_id);
create index idx_vector_buffer_batch on millrace.document_vector_buffer (batch_id);
create index idx_vector_buffer_pending on millrace.document_vector_buffer (document_id, embed_model, embed_version);

-- What is searched: the chunks of published generations.
create table millrace.document_chunks (
  document_id      uuid not null,
  chunk_id         uuid not null,
  generation_id    uuid not null,
  content_id       uuid not null,
  tenant_id        uuid not null,
  owner_id         uuid not null,
  chunk_ord        integer not null,
  chunker_name     text not null,
  chunker_version  text not null,
  chunk_sha        text not null,
  text             text not null,
  heading_path     text[] not null default '{}',
  page_start       integer,
  page_end         integer,
  start_byte       bigint not null,
  end_byte         bigint not null,
  meta             jsonb not null,
  -- real[], or vector where the server has that type (sql/policies/70_vector_type.sql): read it as embedding::real[].
  embedding        real[],
  vector_sha       text,
  embed_sha256     bytea not null,
  -- The signs of the vector's components: near vectors differ in few bits, which are counted without reading the vectors.
  signature        bit varying,
  embed_model      text,
  embed_version    text,
  embed_updated_at timestamptz,
  -- The language its words are counted in, and the words.
  config           regconfig not null default 'pg_catalog.simple',
  words            tsvector not null,
  created_at       timestamptz not null,
  constraint document_chunks_pkey primary key (document_id, chunk_id),
  constraint document_chunks_ord_key unique (document_id, chunk_ord),
  constraint document_chunks_generation_fkey foreign key (generation_id) references millrace.generation (generation_id) on delete cascade,
  constraint document_chunks_offsets_check check (start_byte >= 0 and end_byte >= start_byte),
  constraint document_chunks_embedded_check check ((embedding is null) = (embed_model is null))
);
create index document_chunks_tenant_idx on millrace.document_chunks (tenant_id, document_id);
create index document_chunks_embed_idx on millrace.document_chunks (tenant_id, embed_sha256);
create index document_chunks_generation_idx on millrace.document_chunks (generation_id);
create index document_chunks_words_idx on millrace.document_chunks using gin (words);

-- A parse that somebody else does: asked for, then waited for. Only hashes of what a caller must know are kept (H03).
create table millrace.parse_request (
  file_id           uuid not null,
  run               integer not null,
  tenant_id         uuid not null,
  job_id            uuid not null,
  parser            text not null,
  -- The parser's own id; null: asked, and not answered yet.
  remote_id         text,
  capability_sha256 bytea not null,
  -- asked, waiting, arrived (content is here), failed
  state             text not null default 'asked',
  reason            text,
  sha256            bytea,
  asked_at          timestamptz not null,
  -- Then the stage gives up waiting (B-02).
  deadline          timestamptz not null,
  ended_at          timestamptz,
  constraint parse_request_pkey primary key (file_id, run),
  constraint parse_request_document_fkey foreign key (file_id) references millrace.document (file_id) on delete cascade,
  constraint parse_request_blob_fkey foreign key (tenant_id, sha256) references millrace.blob_object (tenant_id, sha256),
  constraint parse_request_state_check check (state in ('asked', 'waiting', 'arrived', 'failed')),
  constraint parse_request_capability_check check (octet_length(capability_sha256) = 32)
) with (fillfactor = 70);
create unique index parse_request_capability_idx on millrace.parse_request (capability_sha256);
create index parse_request_job_idx on millrace.parse_request (job_id);
create index parse_request_blob_idx on millrace.parse_request (tenant_id, sha256);

-- What came from outside and was believed: each id once per source, in the transaction of its effect (H02).
create table millrace.webhook_inbox (
  source      text not null,
  webhook_id  text not null,
  tenant_id   uuid not null,
  effect      text not null,
  received_at timestamptz not null,
  constraint webhook_inbox_pkey primary key (source, webhook_id),
  constraint webhook_inbox_id_check check (octet_length(webhook_id) between 1 and 256)
);
create index webhook_inbox_received_idx on millrace.webhook_inbox (received_at);

insert into millrace.system_configuration (config_key, config_value, config_type, description, is_sensitive) values
  ('retention.webhook_days',     '7', 'system', 'Ids of webhooks are remembered for this long; senders repeat for less', false),
  ('retention.generation_days',  '7', 'system', 'What was built and never published is removed after this', false)
on conflict (config_key) do nothing;

insert into millrace.sqlstate (code, name, meaning) values
  ('MR045', 'vectors_mismatch',   'Vectors do not fit the chunks of the batch, or the model: nothing was written.'),
  ('MR046', 'generation_not_whole', 'Chunks of the generation have no vector: it cannot be published.'),
  ('MR047', 'parse_not_awaited',  'Nobody waits for this parse: it is known already, was given up, or never asked for.')
on conflict (code) do nothing;
