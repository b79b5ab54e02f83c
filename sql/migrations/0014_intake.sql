-- What COPY brings is found again by its transaction, not by reading all that others left behind. Lock cost: job_intake, for an instant.
-- compat: rolling
alter table millrace.job_intake add column xid xid8 not null default pg_current_xact_id();
create index job_intake_xid_idx on millrace.job_intake (xid);
comment on column millrace.job_intake.xid is 'Not to be given: the transaction that writes the row';
