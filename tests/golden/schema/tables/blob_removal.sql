create table millrace.blob_removal (
  store_key text not null,
  removal_id uuid not null,
  marked_at timestamp with time zone not null,
  ended_at timestamp with time zone
);
alter table millrace.blob_removal add constraint blob_removal_pkey PRIMARY KEY (store_key);
CREATE INDEX blob_removal_ended_idx ON millrace.blob_removal USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX blob_removal_id_idx ON millrace.blob_removal USING btree (removal_id);
CREATE INDEX blob_removal_marked_idx ON millrace.blob_removal USING btree (marked_at) WHERE (ended_at IS NULL);
