create table millrace.sqlstate (
  code text not null,
  name text not null,
  meaning text not null
);
alter table millrace.sqlstate add constraint sqlstate_code_check CHECK ((code ~ '^MR[0-9]{3}$'::text));
alter table millrace.sqlstate add constraint sqlstate_name_key UNIQUE (name);
alter table millrace.sqlstate add constraint sqlstate_pkey PRIMARY KEY (code);
