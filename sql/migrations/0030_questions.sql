-- Questions that a paid service embeds are calls like those of jobs, on the same record and out of the same purse; no job asks them.
-- And what millrace.verify_webhook_origin, a name of the sources, goes by.
-- Lock cost: provider_call is locked for a change of the catalog. compat: rolling

alter table millrace.provider_call alter column job_id drop not null;
comment on column millrace.provider_call.job_id is 'Null: a question of a search.';

insert into millrace.system_configuration (config_key, config_value, config_type, description, is_sensitive) values
  ('webhook.allowed_addresses', '', 'system', 'Addresses and networks, with commas between them, that millrace.verify_webhook_origin takes; empty: any. The server has its own setting of this name', false)
on conflict (config_key) do nothing;
