-- millrace.settle_page: what a stage made of one page, in the transaction that settles its job (so behind the fence). A document that had ended without the page goes on.
-- p_item: as millrace.put_result, and `facts`; p_next: the job that goes on with the document.
create or replace function millrace.settle_page(p_job_id uuid, p_item jsonb, p_next jsonb) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  perform millrace.settle_pages(p_job_id, jsonb_build_array(p_item), '{}', p_next);
end;
$$;
