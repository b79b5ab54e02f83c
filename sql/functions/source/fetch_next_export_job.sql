-- millrace.fetch_next_export_job: hands out the next export (of one user, where given); no row when nothing is due or three run
-- already. locked_by is new for every claim: it is the worker id for millrace.complete_job and millrace.fail_job.
create or replace function millrace.fetch_next_export_job(p_user_id uuid default null)
  returns table (id uuid, user_id uuid, document_id uuid, format text, options jsonb, status text, progress integer, attempts integer,
    max_attempts integer, run_after timestamptz, result_url text, file_size integer, page_count integer, error_message text,
    locked_by text, started_at timestamptz, completed_at timestamptz, created_at timestamptz)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_type smallint;
  v_job_id uuid;
begin
  select t.type_id into strict v_type from millrace.job_type t where t.job_type = 'export_pdf';
  if millrace.keeper_is_stale() then
    perform millrace.keep_a_little();
  end if;
  select l.job_id into v_job_id
    from millrace.claim_core('export-' || gen_random_uuid(), null, null, array[v_type], millrace.tenant_scope(), p_user_id, 1,
                             millrace.source_lease(v_type), false, null, false, false, false) l;
  return query
  select e.id, e.user_id, e.document_id, e.format, e.options, e.status, e.progress, e.attempts, e.max_attempts, e.run_after,
         e.result_url, e.file_size, e.page_count, e.error_message, e.locked_by, e.started_at, e.completed_at, e.created_at
    from millrace.export_jobs e where e.id = v_job_id;
end;
$$;
