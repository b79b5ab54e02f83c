create table millrace.event_floor (
  only_row boolean not null default true,
  xid xid8 not null default '0'::xid8
);
alter table millrace.event_floor add constraint event_floor_one_row_check CHECK (only_row);
alter table millrace.event_floor add constraint event_floor_pkey PRIMARY KEY (only_row);
