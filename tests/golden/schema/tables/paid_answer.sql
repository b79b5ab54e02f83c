create table millrace.paid_answer (
  file_id uuid not null,
  page integer not null,
  stage text not null,
  question_sha256 bytea not null,
  tenant_id uuid not null,
  job_id uuid not null,
  generation integer not null,
  call_id uuid not null,
  model text not null,
  response_id text not null,
  answer text not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cost_micros bigint not null,
  refused text,
  reason text,
  kept_at timestamp with time zone not null
);  -- row security forced
alter table millrace.paid_answer add constraint paid_answer_counts_check CHECK (((input_tokens >= 0) AND (output_tokens >= 0) AND (cost_micros >= 0)));
alter table millrace.paid_answer add constraint paid_answer_document_fkey FOREIGN KEY (file_id) REFERENCES millrace.document(file_id) ON DELETE CASCADE;
alter table millrace.paid_answer add constraint paid_answer_page_check CHECK (((page >= 0) AND (page <= 5000)));
alter table millrace.paid_answer add constraint paid_answer_pkey PRIMARY KEY (file_id, page, stage, question_sha256);
alter table millrace.paid_answer add constraint paid_answer_refused_check CHECK (((refused IS NULL) = (reason IS NULL)));
alter table millrace.paid_answer add constraint paid_answer_sha256_check CHECK ((octet_length(question_sha256) = 32));
CREATE INDEX paid_answer_kept_idx ON millrace.paid_answer USING btree (kept_at) WHERE (refused IS NULL);
CREATE INDEX paid_answer_refused_idx ON millrace.paid_answer USING btree (file_id, page) WHERE (refused IS NOT NULL);
