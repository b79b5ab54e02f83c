create table millrace.audit_seal_state (
  only_row boolean not null default true,
  sealed_xid xid8 not null default '0'::xid8,
  sealed_audit_id bigint not null default 0,
  floor_audit_id bigint not null default 0
);
alter table millrace.audit_seal_state add constraint audit_seal_state_one_row_check CHECK (only_row);
alter table millrace.audit_seal_state add constraint audit_seal_state_pkey PRIMARY KEY (only_row);
