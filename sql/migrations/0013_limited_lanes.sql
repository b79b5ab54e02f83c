-- Jobs with a provider lie in lanes: one slot for all jobs of a claim. Lock cost: provider_slot and lane, for an instant. compat: rolling

alter table millrace.provider_slot add column claim_id uuid, add column jobs integer not null default 1;
alter table millrace.provider_slot add constraint provider_slot_jobs_check check (jobs > 0);
create index provider_slot_claim_idx on millrace.provider_slot (claim_id) where claim_id is not null;
comment on column millrace.provider_slot.jobs is 'How many concurrent requests it stands for: the jobs still held under claim_id, or 1';
create index lane_type_idx on millrace.lane (type_id);

-- The next jobs of a lane, as they are read from there; ids and lines (see millrace.delivery) in the same order. tokens: what they may cost
-- in all, where that was asked for.
create type millrace.stretch as (
  job_ids  uuid[],
  seq_from bigint,
  seq_to   bigint,
  lines    text,
  tokens   bigint
);
