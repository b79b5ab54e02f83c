create unlogged table millrace.job_intake (
  job_type text not null,
  payload jsonb not null,
  queue text,
  priority integer,
  delay_seconds numeric,
  scheduled_at timestamp with time zone,
  job_name text,
  dedupe_key text,
  serial_key text,
  concurrency_key text,
  correlation_id text,
  batch_id uuid,
  id uuid,
  xid xid8 not null default pg_current_xact_id()
) with (autovacuum_vacuum_threshold=2000000, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_insert_threshold=-1, autovacuum_analyze_threshold=2000000000);
CREATE INDEX job_intake_xid_idx ON millrace.job_intake USING btree (xid);
CREATE TRIGGER job_intake_rows AFTER INSERT ON millrace.job_intake REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.intake_rows();
