-- Uploads count their pieces, which are limited; a file remembers into which pipeline it goes, so that a first job that could not be enqueued
-- at once is the right one later.
-- Lock cost: upload and shell_files get columns with a constant default, which writes no row, and are read once for their checks.
-- compat: rolling

alter table millrace.upload
  add column parts bigint not null default 0,
  -- 'guardian': the scan is first (U-07); 'ingest': the document is ingested (U-11).
  add column pipeline text not null default 'guardian',
  add constraint upload_pipeline_check check (pipeline in ('guardian', 'ingest'));

alter table millrace.shell_files
  add column pipeline text not null default 'guardian',
  add constraint shell_files_pipeline_check check (pipeline in ('guardian', 'ingest'));
