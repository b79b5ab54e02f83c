create table millrace.attempt (
  job_id uuid not null,
  attempt_seq bigint not null default nextval('millrace.job_seq'::regclass),
  generation smallint not null,
  tenant_id uuid not null,
  delivery_count integer not null,
  outcome text not null,
  charged boolean not null,
  token uuid,
  worker_id text,
  started_at timestamp with time zone,
  ended_at timestamp with time zone not null,
  due_at timestamp with time zone,
  error jsonb,
  carry jsonb
) partition by RANGE (job_id);  -- row security forced
alter table millrace.attempt add constraint attempt_pkey PRIMARY KEY (job_id, attempt_seq);
CREATE TRIGGER attempt_added AFTER INSERT ON millrace.attempt REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.note_failures();
CREATE TRIGGER attempt_immutable BEFORE UPDATE ON millrace.attempt FOR EACH ROW EXECUTE FUNCTION millrace.refuse_change('attempt');
