-- millrace.claim_suspects: suspects as groups of one, oldest first, each with a mark just before it.
create or replace function millrace.claim_suspects(p_queue_ids smallint[], p_type_ids smallint[], p_tenant uuid)
  returns table (queue_id smallint, type_id smallint, tenant_id uuid, priority smallint, mark bigint, ready_at timestamptz)
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select r.queue_id, r.type_id, r.tenant_id, r.priority, r.ready_seq - 1, r.ready_at
    from millrace.ready r join millrace.queue q on q.queue_id = r.queue_id and q.paused_at is null
   where r.suspect_count >= 3 and (p_queue_ids is null or r.queue_id = any (p_queue_ids))
     and (p_type_ids is null or r.type_id = any (p_type_ids)) and (p_tenant is null or r.tenant_id = p_tenant)
   order by r.ready_seq limit 16;
end;
$$;
