-- millrace.events_after: millrace.read_events for one stream that comes back: only events of p_scope (tenant_id, queue, job_id, batch_id; each as far
-- as given). Looks at p_scan events and gives 4 MiB of them at most; where that does not reach the end, or the position is older than what is kept,
-- too_old says that a snapshot must take its place. Events about the jobs of a lane name them.
create or replace function millrace.events_after(p_xid xid8, p_seq bigint, p_late_xids xid8[], p_late_seqs bigint[], p_scope jsonb, p_scan integer default 5000)
  returns table (snapshot text, too_old boolean, late boolean, xid xid8, event_id bigint, at timestamptz, tenant_id uuid, kind text, queue text, job_ids uuid[], data jsonb)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_row record;
  v_events integer := 0;
  v_bytes bigint := 0;
  v_ids uuid[];
  v_tenant uuid := millrace.uuid_or_null(p_scope ->> 'tenant_id');
  v_job uuid := millrace.uuid_or_null(p_scope ->> 'job_id');
begin
  for v_row in select r.* from millrace.read_events(p_xid, p_seq, p_late_xids, p_late_seqs, p_scan + 1, v_job is not null) r loop
    if v_row.snapshot is not null then
      snapshot := v_row.snapshot;
      too_old := v_row.too_old;
      return next;
      snapshot := null;
      too_old := false;
      continue;
    end if;
    v_events := v_events + 1;
    if v_events <= p_scan then
      continue when v_tenant is not null and v_row.tenant_id <> v_tenant;
      continue when p_scope ? 'queue' and v_row.queue is distinct from p_scope ->> 'queue';
      continue when v_job is not null and not v_job = any (v_row.job_ids);
      continue when p_scope ? 'batch_id' and v_row.data ->> 'batch_id' is distinct from p_scope ->> 'batch_id';
      v_ids := case when v_job is not null then array[v_job]
                    when v_row.job_ids = '{}' and v_row.data ? 'claim' then millrace.claim_jobs_of(v_row.data) else v_row.job_ids end;
      v_bytes := v_bytes + coalesce(octet_length(v_row.data::text), 0) + 16 * cardinality(v_ids);
    end if;
    if v_events > p_scan or v_bytes > 4194304 then
      too_old := true;
      late := null; xid := null; event_id := null; at := null; tenant_id := null; kind := null; queue := null; job_ids := null; data := null;
      return next;
      return;
    end if;
    late := v_row.late;
    xid := v_row.xid;
    event_id := v_row.event_id;
    at := v_row.at;
    tenant_id := v_row.tenant_id;
    kind := v_row.kind;
    queue := v_row.queue;
    job_ids := v_ids;
    data := v_row.data;
    return next;
  end loop;
end;
$$;
