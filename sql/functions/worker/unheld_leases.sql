-- millrace.unheld_leases: a process whose claim was not answered asks which of its leases it does not know. It gives them back by their
-- tokens: this function changes nothing, so that it does no harm when it runs late, after newer claims.
create or replace function millrace.unheld_leases(p_worker_id text, p_process uuid, p_held uuid[]) returns table (job_id uuid, token uuid)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select l.job_id, l.token from millrace.lease l
   where l.process = p_process and l.worker_id = p_worker_id and not l.token = any (coalesce(p_held, '{}'))
   order by l.job_id;
$$;
