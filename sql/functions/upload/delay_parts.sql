-- millrace.delay_parts: these pieces of uploads that are not open any more could not be removed now: they are told again after an hour, so that they do not
-- stand in the way of the others.
create or replace function millrace.delay_parts(p_upload_ids uuid[], p_handles text[]) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  with held as materialized (
    select p.upload_id, p.offset_bytes from millrace.upload_part p join unnest(p_upload_ids, p_handles) x(upload_id, handle)
        on p.upload_id = x.upload_id and p.handle = x.handle
       for update of p skip locked)
  update millrace.upload_part p set sweep_at = millrace.now() + interval '1 hour' from held h where p.upload_id = h.upload_id and p.offset_bytes = h.offset_bytes;
end;
$$;
