create table millrace.keeper_lease (
  duty text not null,
  holder text not null,
  token uuid not null,
  lease_until timestamp with time zone not null
) with (fillfactor=50);
alter table millrace.keeper_lease add constraint keeper_lease_pkey PRIMARY KEY (duty);
