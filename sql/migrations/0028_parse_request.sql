-- Parses by others: how often one was asked for, by which life of the job, and which call on the account it is. Lock cost: a new table's. compat: rolling
alter table millrace.parse_request
  -- Asked again after an ask of which nobody knows what became of it: more than 1 may have been charged more than once (F08).
  add column asks       integer not null default 1,
  -- Of the job: one that was redriven asks anew where it had failed.
  add column generation integer not null default 1,
  -- The call that is on the account until the parse has ended.
  add column call_id    uuid;
