create table millrace.audit_seal (
  tenant_id uuid not null,
  chain_seq bigint not null,
  audit_id bigint not null,
  at timestamp with time zone not null,
  hash bytea not null
);  -- row security forced
alter table millrace.audit_seal add constraint audit_seal_pkey PRIMARY KEY (tenant_id, chain_seq);
CREATE UNIQUE INDEX audit_seal_audit_idx ON millrace.audit_seal USING btree (audit_id);
CREATE TRIGGER audit_seal_immutable BEFORE DELETE OR UPDATE ON millrace.audit_seal FOR EACH ROW EXECUTE FUNCTION millrace.refuse_change('audit_seal');
CREATE TRIGGER audit_seal_trimmed AFTER DELETE ON millrace.audit_seal REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION millrace.check_trim();
