create table millrace.webhook_inbox (
  source text not null,
  webhook_id text not null,
  tenant_id uuid not null,
  effect text not null,
  received_at timestamp with time zone not null
);  -- row security forced
alter table millrace.webhook_inbox add constraint webhook_inbox_id_check CHECK (((octet_length(webhook_id) >= 1) AND (octet_length(webhook_id) <= 256)));
alter table millrace.webhook_inbox add constraint webhook_inbox_pkey PRIMARY KEY (source, webhook_id);
CREATE INDEX webhook_inbox_received_idx ON millrace.webhook_inbox USING btree (received_at);
