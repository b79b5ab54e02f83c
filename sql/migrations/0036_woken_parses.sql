-- A webhook that comes while the job of its parse is in somebody's hands is remembered until that delivery is settled.
-- Lock cost: parse_request is locked for a change of the catalog. compat: rolling

alter table millrace.parse_request
  -- Something was told after the delivery that runs had looked, perhaps: the job looks again at once.
  add column woken boolean not null default false;

-- Made anew with what it does now (sql/policies/10_triggers.sql): requests change while they have their text.
drop trigger if exists parse_request_changed on millrace.parse_request;
