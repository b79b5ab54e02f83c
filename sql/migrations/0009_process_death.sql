-- When worker processes were found dead: what befalls many is no evidence against one job.
-- Lock cost: one new table. compat: rolling

create table millrace.process_death (
  at    timestamptz not null,
  -- It ran one suspect and nothing else.
  alone boolean not null
);
create index process_death_at_idx on millrace.process_death (at);
