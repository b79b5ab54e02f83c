create table millrace.user_profiles (
  id uuid not null,
  tenant_id uuid not null,
  account_owner_id uuid not null,
  display_name text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null
);  -- row security forced
alter table millrace.user_profiles add constraint user_profiles_name_check CHECK (((octet_length(display_name) >= 1) AND (octet_length(display_name) <= 400)));
alter table millrace.user_profiles add constraint user_profiles_pkey PRIMARY KEY (id);
CREATE INDEX user_profiles_account_idx ON millrace.user_profiles USING btree (account_owner_id);
CREATE INDEX user_profiles_owner_idx ON millrace.user_profiles USING btree (tenant_id, account_owner_id, id);
