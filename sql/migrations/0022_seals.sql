-- How far retention has come with the audit: seals of rows that it has dropped are trimmed, and a chain is verified from the oldest seal that is left. It is
-- written down, because the retention that holds today does not say what was dropped by the one of yesterday.
-- Lock cost: one new table. compat: rolling

create table millrace.audit_floor (
  only_row       boolean not null default true,
  -- The end of the last partition that was dropped.
  dropped_before timestamptz not null default '-infinity',
  -- What dropped_before was when the seals were last gone through, and where that is now: no tenant when it has come to its end.
  trimmed_before timestamptz not null default '-infinity',
  next_tenant    uuid,
  next_seq       bigint not null default 0,
  constraint audit_floor_pkey primary key (only_row),
  constraint audit_floor_one_row_check check (only_row)
);
insert into millrace.audit_floor default values;

-- enqueue_plain_list does its work.
drop function if exists millrace.enqueue_plain_jobs(jsonb, uuid);
