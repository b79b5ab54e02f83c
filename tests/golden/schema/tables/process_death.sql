create table millrace.process_death (
  at timestamp with time zone not null,
  alone boolean not null
) with (vacuum_truncate=false);
CREATE INDEX process_death_at_idx ON millrace.process_death USING btree (at);
