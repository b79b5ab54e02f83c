create table millrace.system_configuration (
  config_key text not null,
  config_value text not null,
  config_type text not null default 'system'::text,
  description text,
  is_sensitive boolean not null default false,
  updated_at timestamp with time zone not null default clock_timestamp()
);  -- row security forced
alter table millrace.system_configuration add constraint system_configuration_pkey PRIMARY KEY (config_key);
CREATE TRIGGER system_configuration_check BEFORE INSERT OR UPDATE ON millrace.system_configuration FOR EACH ROW EXECUTE FUNCTION millrace.check_configuration();
