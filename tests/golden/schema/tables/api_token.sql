create table millrace.api_token (
  token_id uuid not null,
  tenant_id uuid not null,
  confined boolean not null,
  user_id uuid,
  role text not null,
  kind text not null,
  public_id text,
  hash bytea,
  jti text,
  prefix text not null,
  name text,
  scopes text[] not null default '{}'::text[],
  created_at timestamp with time zone not null,
  created_by text not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  revoked_by text,
  last_used_at timestamp with time zone
) with (fillfactor=70);  -- row security forced
alter table millrace.api_token add constraint api_token_hash_key UNIQUE (hash);
alter table millrace.api_token add constraint api_token_jti_key UNIQUE (jti);
alter table millrace.api_token add constraint api_token_kind_check CHECK ((((kind = 'api_key'::text) AND (octet_length(hash) = 32) AND (jti IS NULL)) OR ((kind = 'jwt'::text) AND (hash IS NULL) AND (public_id IS NULL) AND (jti IS NOT NULL))));
alter table millrace.api_token add constraint api_token_pkey PRIMARY KEY (token_id);
alter table millrace.api_token add constraint api_token_public_id_key UNIQUE (public_id);
alter table millrace.api_token add constraint api_token_role_check CHECK ((role = ANY (ARRAY['anon'::text, 'authenticated'::text, 'service_role'::text, 'reader'::text, 'operator'::text, 'admin'::text])));
CREATE INDEX api_token_tenant_idx ON millrace.api_token USING btree (tenant_id, token_id);
