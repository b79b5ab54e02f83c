-- millrace.list_batches: batches of the tenant of the call, newest first, behind p_before.
create or replace function millrace.list_batches(p_before uuid default null, p_limit integer default 50)
  returns table (batch_id uuid, tenant_id uuid, name text, total integer, completed integer, failed integer, cancelled integer, pending integer,
                 progress numeric, sealed_at timestamptz, finished_at timestamptz, callback_job_id uuid, created_at timestamptz)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
begin
  return query
  select b.batch_id, b.tenant_id, b.name, b.total, b.completed, b.failed, b.cancelled, b.total - b.completed - b.failed - b.cancelled,
         case when b.total > 0 then floor(100.0 * (b.completed + b.failed + b.cancelled) / b.total) else 0 end, b.sealed_at, b.finished_at, b.callback_job_id,
         b.created_at
    from millrace.batch b
   where (v_scope is null or b.tenant_id = v_scope) and (p_before is null or b.batch_id < p_before)
   order by b.batch_id desc limit least(greatest(coalesce(p_limit, 50), 1), 1000);
end;
$$;
