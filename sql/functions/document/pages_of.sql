-- millrace.pages_of: the pages of a document, what each shows and where it stands. For workers.
create or replace function millrace.pages_of(p_file_id uuid) returns table (page integer, content_sha256 text, state text, failed_stage text, failed_reason text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select p.page, encode(p.content_sha256, 'hex'), p.state, p.failed_stage, p.failed_reason from millrace.page p where p.file_id = p_file_id order by p.page limit 5000
$$;
