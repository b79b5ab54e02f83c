create table millrace.document_vector_buffer (
  buffer_id uuid not null,
  generation_id uuid not null,
  chunk_id uuid not null,
  tenant_id uuid not null,
  document_id uuid not null,
  embed_model text not null,
  embed_version text not null,
  vector real[] not null,
  vector_sha text not null,
  signature bit varying not null,
  batch_id uuid not null,
  created_at timestamp with time zone not null
);  -- row security forced
alter table millrace.document_vector_buffer add constraint document_vector_buffer_chunk_fkey FOREIGN KEY (generation_id, chunk_id) REFERENCES millrace.document_chunk_buffer(generation_id, chunk_id) ON DELETE CASCADE;
alter table millrace.document_vector_buffer add constraint document_vector_buffer_chunk_key UNIQUE (generation_id, chunk_id, embed_model, embed_version);
alter table millrace.document_vector_buffer add constraint document_vector_buffer_pkey PRIMARY KEY (buffer_id);
CREATE INDEX idx_vector_buffer_batch ON millrace.document_vector_buffer USING btree (batch_id);
CREATE INDEX idx_vector_buffer_document ON millrace.document_vector_buffer USING btree (document_id);
CREATE INDEX idx_vector_buffer_pending ON millrace.document_vector_buffer USING btree (document_id, embed_model, embed_version);
