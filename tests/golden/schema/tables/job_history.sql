create table millrace.job_history (
  job_id uuid not null,
  generation smallint not null,
  tenant_id uuid not null,
  queue_id smallint not null,
  type_id smallint not null,
  status millrace.job_status not null,
  reason text,
  finished_at timestamp with time zone not null,
  started_at timestamp with time zone,
  worker_id text,
  token uuid,
  attempt smallint not null,
  delivery_count integer not null,
  crash_count smallint not null,
  snooze_count integer not null,
  progress smallint not null default 0,
  progress_data jsonb,
  result jsonb,
  error jsonb,
  fingerprint text,
  redriven_at timestamp with time zone
) partition by RANGE (job_id);  -- row security forced
alter table millrace.job_history add constraint job_history_final_check CHECK ((status = ANY (ARRAY['completed'::millrace.job_status, 'failed'::millrace.job_status, 'cancelled'::millrace.job_status])));
alter table millrace.job_history add constraint job_history_pkey PRIMARY KEY (job_id, generation);
CREATE INDEX job_history_dead_idx ON ONLY millrace.job_history USING btree (queue_id, fingerprint, job_id) WHERE ((status = 'failed'::millrace.job_status) AND (redriven_at IS NULL));
CREATE INDEX job_history_ended_idx ON ONLY millrace.job_history USING btree (status, job_id) WHERE (status <> 'completed'::millrace.job_status);
CREATE INDEX job_history_tenant_idx ON ONLY millrace.job_history USING btree (tenant_id, status, job_id) WHERE (status <> 'completed'::millrace.job_status);
CREATE TRIGGER job_history_immutable BEFORE UPDATE ON millrace.job_history FOR EACH ROW EXECUTE FUNCTION millrace.refuse_rewrite();
CREATE TRIGGER job_history_undeleted BEFORE DELETE ON millrace.job_history FOR EACH ROW EXECUTE FUNCTION millrace.refuse_change('job_history');
