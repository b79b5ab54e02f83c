-- millrace.place_of: where a job lies, for answers to an operator: ready, delayed, leased, final or not_found.
create or replace function millrace.place_of(p_job_id uuid) returns text
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select case
      when not exists (select from millrace.job_fact f where f.job_id = p_job_id
                          and (millrace.tenant_scope() is null or f.tenant_id = millrace.tenant_scope())) then 'not_found'
      when exists (select from millrace.ready r where r.job_id = p_job_id) then 'ready'
      when exists (select from millrace.delayed d where d.job_id = p_job_id) then 'delayed'
      when exists (select from millrace.lease l where l.job_id = p_job_id) then 'leased'
      else coalesce((select replace(s.state, 'completed', 'final') from millrace.lane_state(p_job_id) s), 'final') end);
end;
$$;
