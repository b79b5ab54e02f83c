create table millrace.clinical_fact (
  id uuid not null,
  tenant_id uuid not null,
  patient_id uuid not null,
  file_id uuid not null,
  page integer not null,
  fact_id text not null,
  type text not null,
  name text not null,
  subject text not null,
  polarity text not null,
  certainty text not null,
  temporality text not null,
  value jsonb not null,
  codes jsonb not null default '[]'::jsonb,
  evidence jsonb not null,
  conf double precision not null,
  route text not null,
  dated text,
  job_id uuid,
  created_at timestamp with time zone not null
);  -- row security forced
alter table millrace.clinical_fact add constraint clinical_fact_document_fkey FOREIGN KEY (file_id) REFERENCES millrace.document(file_id) ON DELETE CASCADE;
alter table millrace.clinical_fact add constraint clinical_fact_page_key UNIQUE (file_id, page, fact_id);
alter table millrace.clinical_fact add constraint clinical_fact_pkey PRIMARY KEY (id);
alter table millrace.clinical_fact add constraint clinical_fact_route_check CHECK ((route = ANY (ARRAY['accepted'::text, 'review'::text])));
CREATE INDEX clinical_fact_patient_idx ON millrace.clinical_fact USING btree (tenant_id, patient_id, type, id);
