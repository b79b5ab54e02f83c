-- Chunks of a generation are put in place before it is published, batch by batch, so that the switch is a change of two rows whatever the size of the document. Rows of two generations of
-- one document therefore lie side by side in document_chunks for a while; readers pass over those that are not published (millrace.hidden_generations), for which signatures carry their generation.
-- How far a generation is, is kept with the batches that make it, and no longer counted at every look.
-- Lock cost: document_chunks is locked while three indexes are built anew; generation is small. compat: rolling

alter table millrace.generation
  -- Chunks that were cut, and those of them that have a vector, wherever they lie; of them in document_chunks.
  add column chunks_done   integer not null default 0,
  add column vectors_done  integer not null default 0,
  add column chunks_placed integer not null default 0,
  add constraint generation_counts_check check (chunks_done >= 0 and vectors_done >= 0 and chunks_placed >= 0);

update millrace.generation g
   set chunks_done = (select count(*) from millrace.document_chunk_buffer c where c.generation_id = g.generation_id),
       vectors_done = (select count(*) from millrace.document_vector_buffer v where v.generation_id = g.generation_id and v.embed_model = g.embed_model and v.embed_version = g.embed_version)
 where g.state = 'building';
update millrace.generation g
   set chunks_done = coalesce(g.chunks_total, 0), vectors_done = coalesce(g.chunks_total, 0), chunks_placed = case when g.state = 'published' then coalesce(g.chunks_total, 0) else 0 end
 where g.state <> 'building';

-- Few: what is being put in place, and what was replaced and is not removed yet.
create index generation_hidden_idx on millrace.generation (tenant_id) where state <> 'published' and chunks_placed > 0;

alter table millrace.document_chunks
  drop constraint document_chunks_pkey,
  drop constraint document_chunks_ord_key,
  add constraint document_chunks_pkey primary key (document_id, chunk_id, generation_id),
  add constraint document_chunks_ord_key unique (generation_id, chunk_ord);
-- The key above begins with it.
drop index millrace.document_chunks_generation_idx;
drop index millrace.document_chunks_signature_idx;
create index document_chunks_signature_idx on millrace.document_chunks (tenant_id, embed_model, embed_version) include (signature, owner_id, document_id, chunk_id, generation_id);
