-- Triggers whose functions live in sql/functions. Idempotent.
create or replace trigger system_configuration_check before insert or update on millrace.system_configuration
  for each row execute function millrace.check_configuration();

drop trigger if exists job_intake_rows on millrace.job_intake;
create trigger job_intake_rows after insert on millrace.job_intake
  referencing new table as new_rows for each statement execute function millrace.intake_rows();
-- Also for replicas and restores: no row stays that millrace.empty_intake could lose.
alter table millrace.job_intake enable always trigger job_intake_rows;
