create table millrace.cron (
  cron_id uuid not null default gen_random_uuid(),
  tenant_id uuid not null,
  name text not null,
  schedule text not null,
  time_zone text not null default 'UTC'::text,
  job jsonb not null,
  enabled boolean not null default true,
  missed text not null default 'one'::text,
  next_due_at timestamp with time zone not null,
  last_due_at timestamp with time zone,
  last_job_id uuid,
  last_error text,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp()
);  -- row security forced
alter table millrace.cron add constraint cron_missed_check CHECK ((missed = ANY (ARRAY['one'::text, 'skip'::text])));
alter table millrace.cron add constraint cron_name_key UNIQUE (tenant_id, name);
alter table millrace.cron add constraint cron_pkey PRIMARY KEY (cron_id);
CREATE INDEX cron_due_idx ON millrace.cron USING btree (next_due_at) WHERE enabled;
