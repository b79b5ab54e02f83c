-- Jobs with a provider lie in lanes: one slot for all jobs of a claim. Lock cost: provider_slot, for an instant. compat: rolling

alter table millrace.provider_slot add column claim_id uuid, add column jobs integer not null default 1;
alter table millrace.provider_slot add constraint provider_slot_jobs_check check (jobs > 0);
create index provider_slot_claim_idx on millrace.provider_slot (claim_id) where claim_id is not null;
comment on column millrace.provider_slot.jobs is 'How many concurrent requests it stands for: the jobs still held under claim_id, or 1';

-- What they may cost, as far as is known.
alter type millrace.lane_stretch add attribute tokens bigint;

drop function if exists millrace.claim_lane(integer, integer, timestamptz, text, uuid, boolean);
