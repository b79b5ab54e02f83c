-- Removals that are under way, or were a while ago: stores that cannot compare and remove in one step are swept too, and content that was stored again
-- in between is not referred to before somebody has looked whether it is there. What lies in the store though it is nobody's any more is counted.
-- Lock cost: new tables, and columns with a constant default: an instant. Two indexes on tables that are small. compat: rolling

-- The bytes of this key are being removed, or were lately. No row refers to them anew while they are; afterwards only once they were looked for.
create table millrace.blob_removal (
  store_key  text not null,
  -- Of one sweeper's attempt: whoever was given up has an old one.
  removal_id uuid not null,
  marked_at  timestamptz not null,
  -- Null: under way; nobody knows how it ended, where that was long ago.
  ended_at   timestamptz,
  constraint blob_removal_pkey primary key (store_key)
);
create index blob_removal_id_idx on millrace.blob_removal (removal_id);
create index blob_removal_marked_idx on millrace.blob_removal (marked_at) where ended_at is null;
create index blob_removal_ended_idx on millrace.blob_removal (ended_at) where ended_at is not null;

-- A piece that could not be removed is not tried again before then.
alter table millrace.upload_part add column sweep_at timestamptz;

-- What the note stands for in the sums below: 0 where another note counts the same content already.
alter table millrace.orphan_note add column size_bytes bigint not null default 0;
create index orphan_note_content_idx on millrace.orphan_note (tenant_id, sha256);
create index blob_object_dead_idx on millrace.blob_object (tenant_id) include (size_bytes) where condemned_at is not null;

-- Of all pieces, whatever became of their uploads; and of content that objects let go and that was not looked at yet.
alter table millrace.tenant_usage add column piece_bytes bigint not null default 0, add column dead_bytes bigint not null default 0;
alter table millrace.usage_delta add column piece_bytes bigint not null default 0, add column dead_bytes bigint not null default 0;
insert into millrace.usage_delta (tenant_id, bytes, files, piece_bytes)
select p.tenant_id, 0, 0, sum(p.size_bytes) from millrace.upload_part p group by p.tenant_id;

-- Files whose first job could not be enqueued, and when to try again: so that they do not stand in the way of the others.
create table millrace.file_retry (
  file_id  uuid not null,
  retry_at timestamptz not null,
  constraint file_retry_pkey primary key (file_id),
  constraint file_retry_file_fkey foreign key (file_id) references millrace.shell_files (id) on delete cascade
);
create index file_retry_at_idx on millrace.file_retry (retry_at);
