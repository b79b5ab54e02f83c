-- millrace.clear_exports: removes up to p_limit exports that expired before p_before, see millrace.expire_exports. 0: there is none that could be removed. Those that cannot
-- are passed by, up to ten times as many as are removed at once, so that they do not keep what stands behind them. What is known of orders a month old goes with them, but not while
-- their jobs live: a document that waits for its template for so long is still in the quota, and the version that was ordered is still kept (F06, E12).
create or replace function millrace.clear_exports(p_before timestamptz, p_limit integer) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_month uuid := millrace.id_at(millrace.now() - interval '30 days');
  v_id uuid;
  v_count integer := 0;
begin
  for v_id in
    select h.id from millrace.export_history h
     where h.expires_at < p_before and (v_scope is null or h.tenant_id = v_scope)
     order by h.expires_at limit 10 * p_limit::bigint for update skip locked
  loop
    exit when v_count >= p_limit;
    begin
      perform from millrace.drop_exports(array[v_id], 'Export expired');
      v_count := v_count + 1;
    exception when others then
      raise warning 'export % could not be removed and will be tried again: %', v_id, sqlerrm;
    end;
  end loop;
  delete from millrace.export_reservation r where r.job_id in (
    select o.job_id from millrace.export_reservation o
     where o.job_id < v_month and (v_scope is null or o.tenant_id = v_scope)
       and not exists (select from millrace.job_brief_of(o.job_id, false) b where b.status not in ('completed', 'failed', 'cancelled'))
     order by o.job_id limit p_limit for update skip locked);
  delete from millrace.export_batch_job m where m.batch_id in (
    select distinct o.batch_id from millrace.export_batch_job o
     where o.batch_id < v_month and (v_scope is null or o.tenant_id = v_scope)
       and not exists (select from millrace.export_batch_job x cross join lateral millrace.job_brief_of(x.job_id, false) b
                        where x.batch_id = o.batch_id and b.status not in ('completed', 'failed', 'cancelled'))
     order by o.batch_id limit p_limit);
  return v_count;
end;
$$;
