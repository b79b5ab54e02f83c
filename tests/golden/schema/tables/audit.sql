create table millrace.audit (
  audit_id bigint not null default nextval('millrace.audit_seq'::regclass),
  xid xid8 not null default pg_current_xact_id(),
  at timestamp with time zone not null default clock_timestamp(),
  tenant_id uuid not null,
  actor text not null,
  worker_id text,
  table_name text not null,
  record_id text,
  operation text not null,
  action text not null,
  job_ids uuid[] not null default '{}'::uuid[],
  old_values jsonb,
  new_values jsonb,
  reason text,
  category text not null default 'system'::text,
  patient_id uuid
) partition by RANGE (at);  -- row security forced
alter table millrace.audit add constraint audit_pkey PRIMARY KEY (at, audit_id);
CREATE INDEX audit_jobs_idx ON ONLY millrace.audit USING gist (millrace.ids_range(job_ids)) WHERE (cardinality(job_ids) > 1);
CREATE INDEX audit_record_idx ON ONLY millrace.audit USING btree (record_id) WHERE (record_id IS NOT NULL);
CREATE INDEX audit_xid_idx ON ONLY millrace.audit USING btree (xid, audit_id);
CREATE TRIGGER audit_immutable BEFORE DELETE OR UPDATE ON millrace.audit FOR EACH ROW EXECUTE FUNCTION millrace.refuse_change('audit');
