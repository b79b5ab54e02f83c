create table millrace.document_chunk_buffer (
  generation_id uuid not null,
  chunk_id uuid not null,
  content_id uuid not null,
  tenant_id uuid not null,
  document_id uuid not null,
  chunk_ord integer not null,
  chunker_name text not null,
  chunker_version text not null,
  chunk_sha text not null,
  text text not null,
  meta jsonb not null,
  embed_sha256 bytea not null,
  config text not null,
  words tsvector not null,
  created_at timestamp with time zone not null
);  -- row security forced
alter table millrace.document_chunk_buffer add constraint document_chunk_buffer_generation_fkey FOREIGN KEY (generation_id) REFERENCES millrace.generation(generation_id) ON DELETE CASCADE;
alter table millrace.document_chunk_buffer add constraint document_chunk_buffer_ord_check CHECK ((chunk_ord >= 0));
alter table millrace.document_chunk_buffer add constraint document_chunk_buffer_ord_key UNIQUE (generation_id, chunk_ord);
alter table millrace.document_chunk_buffer add constraint document_chunk_buffer_pkey PRIMARY KEY (generation_id, chunk_id);
alter table millrace.document_chunk_buffer add constraint document_chunk_buffer_sha_check CHECK ((octet_length(embed_sha256) = 32));
CREATE INDEX document_chunk_buffer_embed_idx ON millrace.document_chunk_buffer USING btree (tenant_id, embed_sha256);
CREATE INDEX idx_chunk_buffer_document ON millrace.document_chunk_buffer USING btree (document_id);
CREATE INDEX idx_chunk_buffer_for_embedding ON millrace.document_chunk_buffer USING btree (document_id, chunker_name, chunker_version);
