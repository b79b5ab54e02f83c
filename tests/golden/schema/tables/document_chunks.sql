create table millrace.document_chunks (
  document_id uuid not null,
  chunk_id uuid not null,
  generation_id uuid not null,
  content_id uuid not null,
  tenant_id uuid not null,
  owner_id uuid not null,
  chunk_ord integer not null,
  chunker_name text not null,
  chunker_version text not null,
  chunk_sha text not null,
  text text not null,
  heading_path text[] not null default '{}'::text[],
  page_start integer,
  page_end integer,
  start_byte bigint not null,
  end_byte bigint not null,
  meta jsonb not null,
  embedding real[],
  vector_sha text,
  embed_sha256 bytea not null,
  signature bit varying,
  embed_model text,
  embed_version text,
  embed_updated_at timestamp with time zone,
  config text not null default 'simple'::text,
  words tsvector not null,
  created_at timestamp with time zone not null
);  -- row security forced
alter table millrace.document_chunks add constraint document_chunks_embedded_check CHECK (((embedding IS NULL) = (embed_model IS NULL)));
alter table millrace.document_chunks add constraint document_chunks_generation_fkey FOREIGN KEY (generation_id) REFERENCES millrace.generation(generation_id) ON DELETE CASCADE;
alter table millrace.document_chunks add constraint document_chunks_offsets_check CHECK (((start_byte >= 0) AND (end_byte >= start_byte)));
alter table millrace.document_chunks add constraint document_chunks_ord_key UNIQUE (generation_id, chunk_ord);
alter table millrace.document_chunks add constraint document_chunks_pkey PRIMARY KEY (document_id, chunk_id, generation_id);
CREATE INDEX document_chunks_config_idx ON millrace.document_chunks USING btree (tenant_id, config);
CREATE INDEX document_chunks_embed_idx ON millrace.document_chunks USING btree (tenant_id, embed_sha256);
CREATE INDEX document_chunks_scoped_words_idx ON millrace.document_chunks USING gin (((words || array_to_tsvector(ARRAY[('t'::text || (tenant_id)::text), ('o'::text || (owner_id)::text), ('c'::text || config), ('b'::text || "right"((chunk_id)::text, 1))])))) WITH (gin_pending_list_limit='256');
CREATE INDEX document_chunks_signature_idx ON millrace.document_chunks USING btree (tenant_id, embed_model, embed_version) INCLUDE (signature, owner_id, document_id, chunk_id, generation_id);
CREATE INDEX document_chunks_tenant_idx ON millrace.document_chunks USING btree (tenant_id, document_id);
