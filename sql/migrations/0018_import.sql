-- Adoption: live jobs of another queue's tables in the same database are moved over. What was moved is written down here, so that a second
-- run finds it again, and so that it can be moved back.
-- Lock cost: a new table only. compat: rolling

create table millrace.imported_job (
  source            text not null,
  source_schema     text not null,
  source_type       text not null,
  source_id         text not null,
  -- Numbers come again where a table was emptied; a number and its time do not. '-infinity' where the source knows none.
  source_created_at timestamptz not null,
  tenant_id         uuid not null,
  job_id            uuid not null,
  -- Whether the source's row was deleted; else it was only marked.
  deleted           boolean not null,
  -- The source's row as it was: the whole of a deleted one, without payload and result where it is still there.
  source_row        jsonb not null,
  imported_at       timestamptz not null,
  constraint imported_job_pkey primary key (source, source_schema, source_type, source_id, source_created_at),
  constraint imported_job_source_check check (source in ('guardian', 'export', 'baseworker', 'pg-boss', 'graphile-worker'))
);
create index imported_job_job_idx on millrace.imported_job (job_id);

-- One live job as a source's reader sees it.
create type millrace.import_row as (
  source_type       text,
  source_id         text,
  source_created_at timestamptz,
  -- The user it belongs to, where the source says so: decides the tenant of a call that is not confined to one.
  user_id           uuid,
  attempts_used     integer,
  -- Null: what the policy of its type or queue says.
  attempts_max      integer,
  -- Why it is left alone; null: it may be moved.
  reason            text,
  -- The fields of millrace.enqueue_jobs, but for job_type, queue and max_attempts.
  job               jsonb,
  kept              jsonb
);

-- What becomes of it.
create type millrace.import_verdict as (
  ord         integer,
  source_type text,
  job_type    text,
  queue       text,
  is_new      boolean,
  tenant_id   uuid,
  reason      text,
  job         jsonb
);

create type millrace.import_answer as (
  source_type       text,
  source_id         text,
  source_created_at timestamptz,
  job_type          text,
  job_id            uuid,
  reason            text
);

create type millrace.import_count as (
  source_type text,
  job_type    text,
  queue       text,
  is_new      boolean,
  reason      text,
  jobs        bigint,
  example     text
);
