-- The table of a queue as one writes it by hand: what a job is, where it stands, and an index for its workers.
create table jobs (
  id uuid primary key default gen_random_uuid(),
  tenant_id uuid,
  queue text not null,
  job_type text not null,
  payload jsonb not null,
  status text not null default 'pending',
  priority integer not null default 0,
  attempts integer not null default 0,
  max_attempts integer not null default 5,
  progress integer not null default 0,
  worker_id text,
  result jsonb,
  error jsonb,
  correlation_id text,
  created_at timestamptz not null default now(),
  run_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
);
create index jobs_pending on jobs (queue, priority desc, run_at) where status = 'pending';
