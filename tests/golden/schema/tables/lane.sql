create table millrace.lane (
  lane_id integer generated always as identity not null,
  queue_id smallint not null,
  type_id smallint not null,
  tenant_id uuid not null,
  priority smallint not null,
  by_hand_until timestamp with time zone
);  -- row security forced
alter table millrace.lane add constraint lane_key UNIQUE (queue_id, type_id, tenant_id, priority);
alter table millrace.lane add constraint lane_pkey PRIMARY KEY (lane_id);
CREATE INDEX lane_type_idx ON millrace.lane USING btree (type_id);
