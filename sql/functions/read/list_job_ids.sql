-- millrace.list_job_ids: the next candidates of millrace.list_jobs, newest first, and the id up to which was looked (null: to the end). At most
-- p_scan rows of one index are looked at, whatever the filter: it decides which index, and what of it is a candidate.
-- processing lists jobs with a lease of their own: those that a lane handed out are there after half a second.
create or replace function millrace.list_job_ids(p_filter jsonb, p_scope uuid, p_owner uuid, p_before uuid, p_scan integer)
  returns table (job_ids uuid[], looked_to uuid) language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_before uuid := coalesce(p_before, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  v_queue smallint := (select q.queue_id from millrace.queue q where q.queue = p_filter ->> 'queue');
  v_type smallint := (select t.type_id from millrace.job_type t where t.job_type = p_filter ->> 'job_type');
  v_batch uuid := millrace.uuid_or_null(p_filter ->> 'batch_id');
  v_status text := p_filter ->> 'status';
  v_seen uuid[];
begin
  if v_batch is not null then
    v_seen := array(select f.job_id from millrace.job_fact f where f.batch_id = v_batch and f.job_id < v_before order by f.job_id desc limit p_scan);
  elsif p_owner is not null then
    v_seen := array(select f.job_id from millrace.job_fact f where f.tenant_id = p_scope and f.owner_id = p_owner and f.job_id < v_before
                     order by f.job_id desc limit p_scan);
  elsif v_status = 'failed' then
    v_seen := array(select h.job_id from millrace.job_history h where h.status = 'failed' and h.redriven_at is null and h.job_id < v_before
                     order by h.job_id desc limit p_scan);
  elsif v_status = 'processing' then
    v_seen := array(select l.job_id from millrace.lease l where l.job_id < v_before order by l.job_id desc limit p_scan);
  elsif v_status in ('retrying', 'deferred') then
    v_seen := array(select d.job_id from millrace.delayed d where d.job_id < v_before order by d.job_id desc limit p_scan);
  else
    v_seen := array(select f.job_id from millrace.job_fact f where f.job_id < v_before order by f.job_id desc limit p_scan);
  end if;
  job_ids := array(
    select f.job_id from unnest(v_seen) u(id) join millrace.job_fact f on f.job_id = u.id
     where (p_scope is null or f.tenant_id = p_scope) and (p_owner is null or f.owner_id = p_owner)
       and (not p_filter ? 'queue' or f.queue_id = v_queue) and (not p_filter ? 'job_type' or f.type_id = v_type)
       and (v_batch is null or f.batch_id = v_batch) and (not p_filter ? 'correlation_id' or f.correlation_id = p_filter ->> 'correlation_id')
       and (not p_filter ? 'fingerprint' or exists (select from millrace.job_history h where h.job_id = f.job_id and h.redriven_at is null
                                                       and h.fingerprint = p_filter ->> 'fingerprint'))
     order by f.job_id desc);
  looked_to := case when cardinality(v_seen) = p_scan then v_seen[p_scan] end;
  return next;
end;
$$;
