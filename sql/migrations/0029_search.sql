-- Search over published chunks.
-- Every question is asked inside one tenant, and by users inside their own documents. Words of all tenants lie in one GIN index, which cannot have a tenant before them; so tenant, owner and language are
-- words too, in the index only, and no text can contain them (they begin with a control character). What is common elsewhere then costs nothing here. One more word tells which sixteenth of all chunks one
-- belongs to, by its id: how frequent a frequent word is, is counted in a sixteenth. Pending entries are kept few, because every question reads all of them.
-- Signatures are read for all chunks of a tenant: they lie in an index with what is asked beside them, so that no row is touched.
-- The language is kept by its name: pg_upgrade refuses tables with a column of type regconfig.
-- Lock cost: both tables are rewritten and document_chunks is locked while its indexes are built; they are new and small, or empty. compat: rolling

alter table millrace.document_chunk_buffer alter column config type text using config::text;
alter table millrace.document_chunks
  alter column config drop default,
  alter column config type text using config::text,
  alter column config set default 'simple',
  -- Vectors do not compress, and are read for the nearest few only.
  alter column embedding set storage external;

drop index millrace.document_chunks_words_idx;
create index document_chunks_scoped_words_idx on millrace.document_chunks
  using gin ((words || array_to_tsvector(array[E'\x01t' || tenant_id::text, E'\x01o' || owner_id::text, E'\x01c' || config, E'\x01b' || right(chunk_id::text, 1)]))) with (gin_pending_list_limit = 256);
create index document_chunks_signature_idx on millrace.document_chunks (tenant_id, embed_model, embed_version) include (signature, owner_id, document_id, chunk_id);
create index document_chunks_config_idx on millrace.document_chunks (tenant_id, config);
