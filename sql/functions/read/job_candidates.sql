-- millrace.job_candidates: up to p_limit jobs below p_before, newest first, among which a list of p_status looks; null: of any status. Asked by
-- status, they come from where jobs of that status lie; many more than match are passed over only for completed ones, which are nearly all.
create or replace function millrace.job_candidates(
    p_status text, p_queue_id smallint, p_type_id smallint, p_tenant uuid, p_owner uuid, p_batch uuid, p_before uuid, p_limit integer) returns uuid[]
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_status millrace.job_status := p_status::millrace.job_status;
begin
  if p_batch is not null then
    return array(select f.job_id from millrace.job_fact f where f.batch_id = p_batch and f.job_id < p_before order by f.job_id desc limit p_limit);
  end if;
  if p_owner is not null and p_tenant is not null then
    return array(select f.job_id from millrace.job_fact f
                  where f.tenant_id = p_tenant and f.owner_id = p_owner and f.job_id < p_before order by f.job_id desc limit p_limit);
  end if;
  case p_status
    when 'pending' then
      return array(
        select x.job_id from (
          (select r.job_id from millrace.ready r
            where r.job_id < p_before and (p_queue_id is null or r.queue_id = p_queue_id) and (p_type_id is null or r.type_id = p_type_id)
              and (p_tenant is null or r.tenant_id = p_tenant) order by r.job_id desc limit p_limit)
          union all
          (select d.job_id from millrace.delayed d
            where d.job_id < p_before and d.reason not in ('retrying', 'deferred') and (p_queue_id is null or d.queue_id = p_queue_id)
              and (p_type_id is null or d.type_id = p_type_id) and (p_tenant is null or d.tenant_id = p_tenant) order by d.job_id desc limit p_limit)
          union all
          (select w.job_id from millrace.lane l
             cross join lateral (select h.lane_xid, h.lane_seq, h.late_xids from millrace.lane_head h where h.lane_id = l.lane_id order by h.claim_no desc limit 1) h
             cross join lateral (
               (select f.job_id from millrace.job_fact f
                 where f.lane_id = l.lane_id and (f.lane_xid, f.seq) > (h.lane_xid, h.lane_seq) and f.job_id < p_before
                 order by f.lane_xid desc, f.seq desc limit p_limit)
               union all
               (select f.job_id from unnest(h.late_xids) x join millrace.job_fact f on f.lane_id = l.lane_id and f.lane_xid = x
                 where f.job_id < p_before limit p_limit)) w
            where (p_queue_id is null or l.queue_id = p_queue_id) and (p_type_id is null or l.type_id = p_type_id)
              and (p_tenant is null or l.tenant_id = p_tenant))) x
         order by x.job_id desc limit p_limit);
    when 'processing' then
      return array(
        select x.job_id from (
          (select l.job_id from millrace.lease l
            where l.job_id < p_before and (p_queue_id is null or l.queue_id = p_queue_id) and (p_type_id is null or l.type_id = p_type_id)
              and (p_tenant is null or l.tenant_id = p_tenant) order by l.job_id desc limit p_limit)
          union all
          (select h.job_id from millrace.lane_held h
            where h.job_id < p_before and (p_queue_id is null or h.queue_id = p_queue_id) and (p_type_id is null or h.type_id = p_type_id)
              and (p_tenant is null or h.tenant_id = p_tenant) order by h.job_id desc limit p_limit)) x
         order by x.job_id desc limit p_limit);
    when 'retrying', 'deferred' then
      return array(
        select d.job_id from millrace.delayed d
         where d.job_id < p_before and d.reason = p_status::millrace.wait_reason and (p_queue_id is null or d.queue_id = p_queue_id)
           and (p_type_id is null or d.type_id = p_type_id) and (p_tenant is null or d.tenant_id = p_tenant)
         order by d.job_id desc limit p_limit);
    when 'failed', 'cancelled' then
      -- There can be any number of them: those of other queues and types are candidates too, so that no call passes over all. Compared and ordered
      -- by all columns of their index: under row security, an equal status alone does not tell the planner that the index is in order.
      if p_tenant is not null then
        return array(
          select h.job_id from millrace.job_history h
           where h.tenant_id = p_tenant and h.status = v_status and h.status <> 'completed' and h.redriven_at is null
             and (h.tenant_id, h.status, h.job_id) < (p_tenant, v_status, p_before)
           order by h.tenant_id desc, h.status desc, h.job_id desc limit p_limit);
      end if;
      return array(
        select h.job_id from millrace.job_history h
         where h.status = v_status and h.status <> 'completed' and h.redriven_at is null and (h.status, h.job_id) < (v_status, p_before)
         order by h.status desc, h.job_id desc limit p_limit);
    else
      return array(select f.job_id from millrace.job_fact f where f.job_id < p_before order by f.job_id desc limit p_limit);
  end case;
end;
$$;
