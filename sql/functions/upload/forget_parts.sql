-- millrace.forget_parts: these pieces of uploads that are not open any more were removed.
create or replace function millrace.forget_parts(p_upload_ids uuid[], p_handles text[]) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_count integer;
begin
  delete from millrace.upload_part p using unnest(p_upload_ids, p_handles) x(upload_id, handle)
   where p.upload_id = x.upload_id and p.handle = x.handle
     and not exists (select from millrace.upload u where u.upload_id = p.upload_id and u.state = 'open');
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
