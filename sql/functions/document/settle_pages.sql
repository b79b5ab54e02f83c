-- millrace.settle_pages: what a stage made of a group of pages, in the transaction that settles their job. Pages that the group could not do (p_left) get jobs of their own in the same batch: what is wrong
-- with one of them is its own affair, with its own attempts. Of a job that the document has left behind (an earlier run's, started again) only pages that it goes on without are taken: what the running one
-- has made of the others stays, and so do the words that later stages cite. p_items, p_next: as in millrace.settle_page.
create or replace function millrace.settle_pages(p_job_id uuid, p_items jsonb, p_left integer[], p_next jsonb) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_document millrace.document := millrace.lock_document(p_job_id);
  v_left_behind boolean := v_document.state = 'processing'
                           and v_document.batch_id is distinct from (select j.batch_id from millrace.job_fact j where j.job_id = p_job_id);
  v_items jsonb := p_items;
  v_left integer[] := p_left;
  v_given_up integer[];
  v_item jsonb;
begin
  select i into v_item from jsonb_array_elements(p_items) i
   where not exists (select from millrace.page p where p.file_id = v_document.file_id and p.page = (i ->> 'page')::integer) limit 1;
  if found then
    raise exception 'document % has no page %', v_document.file_id, v_item ->> 'page' using errcode = 'MR041';
  end if;
  if v_left_behind then
    v_given_up := array(select p.page from millrace.page p where p.file_id = v_document.file_id and p.state = 'failed');
    v_items := (select coalesce(jsonb_agg(i), '[]') from jsonb_array_elements(p_items) i where (i ->> 'page')::integer = any (v_given_up));
    v_left := array(select u.page from unnest(p_left) u(page) where u.page = any (v_given_up));
  end if;
  perform millrace.put_results(v_document, v_items, p_job_id);
  for v_item in select i from jsonb_array_elements(v_items) i order by (i ->> 'page')::integer loop
    perform millrace.write_page(v_document, v_item, p_job_id);
  end loop;
  if v_document.state = 'processing' and not v_left_behind then
    update millrace.document d set stage_done = least(d.stage_done + jsonb_array_length(v_items), d.stage_total)
     where d.file_id = v_document.file_id and d.stage = v_items #>> '{0,stage}';
  end if;
  if cardinality(v_left) > 0 then
    perform millrace.split_group(v_document, v_left, p_job_id);
  end if;
  if v_document.state <> 'processing' and p_next is not null then
    perform millrace.resume_document(v_document, p_next, p_job_id);
  end if;
end;
$$;
