create table millrace.generation (
  generation_id uuid not null,
  tenant_id uuid not null,
  file_id uuid not null,
  parsed_sha256 bytea not null,
  parse_id uuid not null,
  parser_name text not null,
  parser_version text not null,
  chunker_name text not null,
  chunker_version text not null,
  params_sha256 bytea not null,
  embed_model text not null,
  embed_version text not null,
  language text,
  state text not null default 'building'::text,
  chunks_total integer,
  created_at timestamp with time zone not null,
  published_at timestamp with time zone,
  place text default 
CASE
    WHEN (state <> 'superseded'::text) THEN state
    ELSE NULL::text
END,
  chunks_done integer not null default 0,
  vectors_done integer not null default 0,
  chunks_placed integer not null default 0
) with (fillfactor=80);  -- row security forced
alter table millrace.generation add constraint generation_counts_check CHECK (((chunks_done >= 0) AND (vectors_done >= 0) AND (chunks_placed >= 0)));
alter table millrace.generation add constraint generation_document_fkey FOREIGN KEY (file_id) REFERENCES millrace.document(file_id) ON DELETE CASCADE;
alter table millrace.generation add constraint generation_hashes_check CHECK (((octet_length(parsed_sha256) = 32) AND (octet_length(params_sha256) = 32)));
alter table millrace.generation add constraint generation_model_fkey FOREIGN KEY (embed_model, embed_version) REFERENCES millrace.embedding_model(embed_model, embed_version);
alter table millrace.generation add constraint generation_pkey PRIMARY KEY (generation_id);
alter table millrace.generation add constraint generation_place_key UNIQUE (file_id, place);
alter table millrace.generation add constraint generation_published_check CHECK (((state = 'building'::text) = (published_at IS NULL)));
alter table millrace.generation add constraint generation_state_check CHECK ((state = ANY (ARRAY['building'::text, 'published'::text, 'superseded'::text])));
CREATE INDEX generation_document_idx ON millrace.generation USING btree (file_id, created_at);
CREATE INDEX generation_hidden_idx ON millrace.generation USING btree (tenant_id) WHERE ((state <> 'published'::text) AND (chunks_placed > 0));
CREATE INDEX generation_left_idx ON millrace.generation USING btree (created_at) WHERE (state <> 'published'::text);
CREATE INDEX generation_parsed_idx ON millrace.generation USING btree (tenant_id, parsed_sha256);
