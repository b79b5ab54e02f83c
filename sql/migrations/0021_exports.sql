-- Exports of users: what those that are not finished will take of the quota, and the batches they were ordered in. A batch names its jobs here, because
-- a document that is being exported already is not exported twice: its job belongs to every batch that asked for it.
-- Lock cost: new tables only; the exports that live are looked up by their keys. compat: rolling

create table millrace.export_reservation (
  job_id    uuid not null,
  tenant_id uuid not null,
  user_id   uuid not null,
  bytes     bigint not null,
  constraint export_reservation_pkey primary key (job_id),
  constraint export_reservation_bytes_check check (bytes >= 0)
);
create index export_reservation_user_idx on millrace.export_reservation (tenant_id, user_id);

create table millrace.export_batch_job (
  batch_id  uuid not null,
  position  integer not null,
  job_id    uuid not null,
  tenant_id uuid not null,
  constraint export_batch_job_pkey primary key (batch_id, position)
);

insert into millrace.system_configuration (config_key, config_value, config_type, description, is_sensitive) values
  ('export.reserve_bytes', '1048576', 'system', 'An export that is not finished counts as this much of its user''s quota', false)
on conflict (config_key) do nothing;

insert into millrace.sqlstate (code, name, meaning) values
  ('MR040', 'version_changed', 'It is not as the caller has seen it (`If-Match`): nothing was changed.')
on conflict do nothing;

-- Exports that live hold their dedupe key.
insert into millrace.export_reservation (job_id, tenant_id, user_id, bytes)
select f.job_id, f.tenant_id, f.owner_id, 1048576
  from millrace.job_type t
  join millrace.dedupe_key k on k.type_id = t.type_id
  join millrace.job_fact f on f.job_id = k.job_id
 where t.job_type = 'export_pdf' and f.owner_id is not null
on conflict do nothing;
