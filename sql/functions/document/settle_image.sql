-- millrace.settle_image: a picture of a page that somebody asked for, in the transaction that settles its job. Changes nothing else of the document.
create or replace function millrace.settle_image(p_job_id uuid, p_output jsonb) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  perform millrace.put_outputs(millrace.lock_document(p_job_id), jsonb_build_array(p_output), p_job_id);
end;
$$;
