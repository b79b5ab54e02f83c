-- millrace.job_log_page: captured log lines of a job the caller may see, behind p_after, oldest first.
create or replace function millrace.job_log_page(p_job_id uuid, p_after bigint default 0, p_limit integer default 1000)
  returns table (log_seq bigint, at timestamptz, delivery integer, level text, message text)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  if not exists (select from millrace.job_fact f where f.job_id = p_job_id and millrace.job_visible(f.tenant_id, f.owner_id, millrace.tenant_scope())) then
    raise exception 'job % does not exist', p_job_id using errcode = 'MR009';
  end if;
  return query
  select g.log_seq, g.at, g.delivery_count, g.level, g.message from millrace.job_log g
   where g.job_id = p_job_id and g.log_seq > coalesce(p_after, 0) order by g.log_seq limit least(greatest(coalesce(p_limit, 1000), 1), 10000);
end;
$$;
