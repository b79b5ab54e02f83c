-- millrace.get_job_status: an export of this user, or no row: another user's and an unknown one look the same.
create or replace function millrace.get_job_status(p_job_id uuid, p_user_id uuid)
  returns table (id uuid, user_id uuid, document_id uuid, format text, options jsonb, status text, progress integer, attempts integer,
    max_attempts integer, run_after timestamptz, result_url text, file_size integer, page_count integer, error_message text,
    locked_by text, started_at timestamptz, completed_at timestamptz, created_at timestamptz)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_scope uuid := millrace.tenant_scope();
begin
  return query
  select e.id, e.user_id, e.document_id, e.format, e.options, e.status, e.progress, e.attempts, e.max_attempts, e.run_after,
         e.result_url, e.file_size, e.page_count, e.error_message, e.locked_by, e.started_at, e.completed_at, e.created_at
    from millrace.export_jobs e
   where e.id = p_job_id and e.user_id = p_user_id
     and (v_scope is null or exists (select from millrace.job_fact f where f.job_id = e.id and f.tenant_id = v_scope));
end;
$$;
