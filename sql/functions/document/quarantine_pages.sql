-- millrace.quarantine_pages: gives up the pages of a document whose content has crashed its readers before.
create or replace function millrace.quarantine_pages(p_file_id uuid, p_stage text) returns void
  language sql volatile set search_path = pg_catalog, pg_temp
as $$
  update millrace.page p set state = 'failed', failed_stage = p_stage, failed_reason = 'quarantined'
   where p.file_id = p_file_id and p.state <> 'failed'
     and exists (select from millrace.quarantine q where q.tenant_id = p.tenant_id and q.sha256 = p.content_sha256 and q.what = 'page' and q.released_at is null)
$$;
