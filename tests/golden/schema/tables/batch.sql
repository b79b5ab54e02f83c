create table millrace.batch (
  batch_id uuid not null,
  tenant_id uuid not null,
  name text,
  total integer not null default 0,
  completed integer not null default 0,
  failed integer not null default 0,
  cancelled integer not null default 0,
  sealed_at timestamp with time zone,
  callback jsonb,
  callback_on text not null default 'finished'::text,
  callback_job_id uuid,
  finished_at timestamp with time zone,
  created_at timestamp with time zone not null,
  created_by text not null
) with (fillfactor=50);  -- row security forced
alter table millrace.batch add constraint batch_callback_on_check CHECK ((callback_on = ANY (ARRAY['finished'::text, 'completed'::text])));
alter table millrace.batch add constraint batch_counts_check CHECK (((completed >= 0) AND (failed >= 0) AND (cancelled >= 0)));
alter table millrace.batch add constraint batch_pkey PRIMARY KEY (batch_id);
CREATE INDEX batch_tenant_idx ON millrace.batch USING btree (tenant_id, batch_id);
