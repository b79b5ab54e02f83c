create table millrace.audit_floor (
  only_row boolean not null default true,
  dropped_before timestamp with time zone not null default '-infinity'::timestamp with time zone,
  trimmed_before timestamp with time zone not null default '-infinity'::timestamp with time zone,
  next_tenant uuid,
  next_seq bigint not null default 0
);
alter table millrace.audit_floor add constraint audit_floor_one_row_check CHECK (only_row);
alter table millrace.audit_floor add constraint audit_floor_pkey PRIMARY KEY (only_row);
