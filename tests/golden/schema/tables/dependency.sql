create table millrace.dependency (
  job_id uuid not null,
  depends_on uuid not null,
  tenant_id uuid not null,
  mode text not null,
  on_failure text not null
);  -- row security forced
alter table millrace.dependency add constraint dependency_mode_check CHECK ((mode = ANY (ARRAY['all'::text, 'any'::text])));
alter table millrace.dependency add constraint dependency_on_failure_check CHECK ((on_failure = ANY (ARRAY['cancel'::text, 'run'::text])));
alter table millrace.dependency add constraint dependency_pkey PRIMARY KEY (job_id, depends_on);
alter table millrace.dependency add constraint dependency_self_check CHECK ((job_id <> depends_on));
CREATE INDEX dependency_depends_on_idx ON millrace.dependency USING btree (depends_on);
