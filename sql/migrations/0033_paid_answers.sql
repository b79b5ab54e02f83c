-- Answers that were paid for are kept as they come, until their stage has made its result of all of them: whatever fails afterwards, nothing is asked and paid twice but the one question that was in flight. What cannot be
-- used is kept as evidence for a person. And a job takes room by itself at a provider that its type is not bound to: stages of one name may ask different ones in different pipelines.
-- Lock cost: provider_slot is locked for a change of the catalog; otherwise a new table. compat: rolling

create table millrace.paid_answer (
  file_id         uuid not null,
  -- 0: the question was about the whole document.
  page            integer not null,
  stage           text not null,
  -- Of all that the answer depends on: provider, model, instructions, form, what it is about.
  question_sha256 bytea not null,
  tenant_id       uuid not null,
  -- Who asked.
  job_id          uuid not null,
  generation      integer not null,
  call_id         uuid not null,
  -- That answered, as it says.
  model           text not null,
  response_id     text not null,
  answer          text not null,
  input_tokens    bigint not null,
  output_tokens   bigint not null,
  cost_micros     bigint not null,
  -- A word for what is wrong with it, and why; null: it can be used.
  refused         text,
  reason          text,
  kept_at         timestamptz not null,
  constraint paid_answer_pkey primary key (file_id, page, stage, question_sha256),
  constraint paid_answer_document_fkey foreign key (file_id) references millrace.document (file_id) on delete cascade,
  constraint paid_answer_page_check check (page between 0 and 5000),
  constraint paid_answer_sha256_check check (octet_length(question_sha256) = 32),
  constraint paid_answer_counts_check check (input_tokens >= 0 and output_tokens >= 0 and cost_micros >= 0),
  constraint paid_answer_refused_check check ((refused is null) = (reason is null))
);
-- What retention removes: answers that nobody came back for.
create index paid_answer_kept_idx on millrace.paid_answer (kept_at) where refused is null;
create index paid_answer_refused_idx on millrace.paid_answer (file_id, page) where refused is not null;

alter table millrace.provider_slot add column own boolean not null default false;
comment on column millrace.provider_slot.own is 'Taken by the job itself: its tokens are settled call by call, and what becomes of the job is said of this provider and not of the one that its type is bound to';
