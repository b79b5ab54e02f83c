-- Who may do what: least privilege per component. Everything is taken away first, also from the roles that hosted platforms
-- give default privileges to, and then granted by name. tests/golden/grants.golden.txt is the whole result.
-- Roles that do not exist on this server are skipped; a function that does not exist is a mistake and stops the run.
--
-- Nobody but the owner writes a table (COPY into millrace.job_intake excepted, whose trigger makes jobs of the rows). Columns that
-- hold a fence (lease.token, lease.process, worker.nonce) are not for clients.
do $$
declare
  v_row record;
  v_role text;
begin
  for v_row in
    select quote_ident(r.rolname) as role from pg_catalog.pg_roles r
     where r.rolname in ('anon', 'authenticated', 'service_role', 'millrace_api', 'millrace_worker', 'millrace_keeper', 'millrace_reader')
    union all select 'public'
  loop
    execute format('revoke all on schema millrace from %s', v_row.role);
    execute format('revoke all on all tables in schema millrace from %s', v_row.role);
    execute format('revoke all on all sequences in schema millrace from %s', v_row.role);
    execute format('revoke all on all routines in schema millrace from %s', v_row.role);
    execute format('alter default privileges in schema millrace revoke all on tables from %s', v_row.role);
    execute format('alter default privileges in schema millrace revoke all on sequences from %s', v_row.role);
    execute format('alter default privileges in schema millrace revoke all on routines from %s', v_row.role);
    -- PUBLIC's right to execute new functions is a global default; a role of our own can be cured of it.
    if current_user = 'millrace_owner' then
      execute format('alter default privileges revoke all on tables from %s', v_row.role);
      execute format('alter default privileges revoke all on sequences from %s', v_row.role);
      execute format('alter default privileges revoke all on routines from %s', v_row.role);
    end if;
  end loop;
  for v_role in
    select quote_ident(r.rolname) from pg_catalog.pg_roles r
     where r.rolname in ('authenticated', 'service_role', 'millrace_api', 'millrace_worker', 'millrace_keeper', 'millrace_reader')
  loop
    execute format('grant usage on schema millrace to %s', v_role);
  end loop;

  -- Functions. Components: W worker, K keeper, A api, R reader, S service_role, C client with a user's token.
  for v_row in
    select f.name, quote_ident(r.rolname) as role, p.oid::regprocedure::text as signature
      from (values
        -- What row policies and views evaluate with the rights of whoever reads.
        ('caller', 'ARSC'), ('claimed_tenant', 'ARSC'), ('current_tenant', 'ARSC'), ('current_user_id', 'ARSC'), ('jwt_claims', 'ARSC'),
        ('tenant_scope', 'ARSC'), ('is_tenant_disabled', 'WKARSC'), ('has_profile_access', 'SC'), ('uuid_or_null', 'ARSC'), ('is_service_role', 'ARS'), ('jsonb_merge', 'ARS'),
        ('jsonb_merge_agg', 'ARS'), ('json_integer', 'ARSC'), ('error_text', 'ARSC'), ('now', 'WKARS'), ('new_id', 'AS'),
        -- The sources' names.
        ('enqueue_job_v3', 'S'), ('claim_next_job_v3', 'S'), ('claim_next_job', 'S'), ('update_job_heartbeat', 'S'),
        ('reschedule_job', 'S'), ('complete_job', 'S'), ('fail_job', 'S'), ('cancel_job', 'AS'), ('create_export_job', 'AS'), ('put_export_jobs', 'AS'), ('update_export_jobs', 'AS'),
        ('fetch_next_export_job', 'S'), ('pgmq_create', 'S'), ('pgmq_send', 'S'), ('pgmq_read', 'S'), ('pgmq_delete', 'S'), ('pgmq_archive', 'S'), ('calculate_retry_delay', 'ARS'), ('get_job_status', 'AS'), ('update_job_progress', 'S'),
        ('reset_stuck_jobs', 'S'), ('can_process_more_jobs', 'AS'), ('acquire_api_capacity', 'S'), ('release_api_capacity', 'S'),
        ('process_job', 'S'), ('submit_parse_job', 'S'), ('chunk_id', 'S'), ('parse_id', 'S'), ('promote_buffers_to_production', 'S'), ('cleanup_completed_buffers', 'S'), ('check_webhook_replay', 'S'),
        ('verify_signature', 'S'), ('verify_timestamp', 'S'), ('verify_webhook_origin', 'S'), ('sanitize_log_data', 'S'), ('log_audit_event', 'WAS'),
        -- Producers.
        ('enqueue_job', 'AS'), ('enqueue_jobs', 'AS'), ('enqueue_singles', 'AS'), ('enqueue_each', 'AS'), ('enqueue_array', 'AS'), ('cancel_jobs', 'AS'), ('create_batch', 'AS'),
        ('open_batch', 'AS'), ('seal_batch', 'AS'), ('get_batch', 'ARS'), ('list_batches', 'ARS'), ('get_job', 'ARS'),
        -- The server, for whoever calls it: readers, services and users, each as far as its role and claims reach.
        ('job_status', 'ARSC'), ('job_statuses', 'ARSC'), ('job_status_lines', 'ARSC'), ('job_detail', 'ARSC'), ('job_log_page', 'ARSC'), ('list_jobs', 'ARSC'), ('cancel_mine', 'ASC'), ('get_result', 'ARSC'), ('compute_message', 'ARS'),
        ('create_profile', 'ASC'), ('create_profile_row', 'ASC'), ('list_profiles', 'ARSC'), ('rename_profile', 'ASC'), ('delete_profile', 'ASC'),
        ('get_file', 'ARSC'), ('list_files', 'ARSC'), ('put_shell_files', 'ASC'), ('update_shell_files', 'ASC'), ('delete_shell_files', 'ASC'),
        ('get_object', 'ARSC'), ('list_objects', 'ARSC'), ('list_buckets', 'ARSC'), ('remove_objects', 'ASC'),
        ('create_export_history', 'WAS'), ('update_export_history', 'ASC'), ('delete_export_history', 'ASC'), ('count_download', 'ASC'), ('count_downloads', 'ASC'), ('find_download', 'ARSC'), ('check_storage_quota', 'ARSC'), ('export_files', 'ARSC'), ('export_batch_jobs', 'ARSC'), ('export_preview', 'ARSC'),
        ('put_export_document', 'ASC'), ('get_export_document', 'ARSC'), ('list_export_documents', 'ARSC'), ('delete_export_document', 'ASC'),
        ('version_of', 'ARSC'), ('require_version', 'ASC'), ('begin_request', 'ASC'), ('finish_request', 'ASC'), ('keep_effect', 'ASC'), ('release_request', 'ASC'), ('rest_single', 'ARSC'), ('rest_bounded', 'ARSC'),
        -- The server by itself, after it has made sure who asks. Whoever may say which content was stored could read all content: no client may.
        ('begin_upload', 'A'), ('grow_upload', 'A'), ('get_upload', 'A'), ('list_parts', 'A'), ('take_upload', 'A'), ('advance_upload', 'A'), ('finish_upload', 'A'), ('abort_upload', 'A'),
        ('submit_compute', 'A'), ('order_exports', 'A'), ('find_api_token', 'A'), ('is_token_revoked', 'A'), ('touch_api_tokens', 'A'), ('revoked_holders', 'A'), ('event_tail', 'A'), ('event_start', 'A'), ('read_events', 'A'),
        ('events_after', 'A'), ('rest_surface', 'A'), ('expire_uploads', 'A'), ('forget_parts', 'A'), ('delay_parts', 'A'), ('condemn_blobs', 'A'), ('forget_blobs', 'A'), ('delay_blobs', 'A'),
        ('unknown_blobs', 'A'), ('mark_blobs', 'A'), ('end_removals', 'A'), ('lapsed_removals', 'A'), ('clear_removal', 'A'),
        ('register_remote_worker', 'W'), ('check_remote_worker', 'W'), ('settle_remote', 'W'),
        ('scale_hint', 'KARS'), ('queue_load', 'ARS'), ('health_counts', 'ARS'), ('metrics_snapshot', 'AR'),
        -- Administrators.
        ('create_tenant', 'A'), ('create_tenant_row', 'A'), ('set_tenant_quota', 'A'), ('disable_tenant', 'A'), ('enable_tenant', 'A'), ('list_tenants', 'AR'), ('tenant_policy', 'A'),
        ('create_api_token', 'A'), ('list_api_tokens', 'AR'), ('revoke_api_token', 'A'),
        -- Operators.
        ('redrive_jobs', 'A'), ('run_now', 'A'), ('retry_job', 'A'), ('reschedule_jobs', 'A'), ('pause_queue', 'A'), ('resume_queue', 'A'),
        ('set_queue', 'A'), ('set_job_type', 'A'), ('set_config_value', 'A'), ('set_limit', 'A'), ('override_limit', 'A'),
        ('clear_override', 'A'), ('reset_breaker', 'A'), ('set_cron', 'A'), ('delete_cron', 'A'), ('cron_now', 'A'),
        ('set_tenant_weight', 'A'), ('restamp_lanes', 'A'), ('stamps_ahead', 'WKAR'), ('cron_next', 'AR'), ('cron_overview', 'AR'), ('queue_counts', 'AR'), ('limits_overview', 'AR'),
        ('dead_groups', 'AR'), ('dead_group_page', 'AR'), ('unhandled_types', 'AR'), ('lane_groups', 'AR'), ('job_logs', 'ARS'), ('horizon', 'KAR'),
        -- Adoption. What reads and writes another queue's tables does so with the rights of the caller, and calls the rest.
        ('import_report', 'A'), ('import_batch', 'A'), ('import_undo', 'A'), ('imports_overview', 'AR'), ('forget_imports', 'A'),
        ('judge_imports', 'A'), ('accept_imports', 'A'), ('release_imports', 'A'), ('import_counts', 'A'), ('import_read', 'A'),
        ('import_cross_off', 'A'), ('import_restore', 'A'), ('import_table', 'A'), ('import_guardian', 'A'), ('import_export', 'A'),
        ('import_baseworker', 'A'), ('import_pg_boss', 'A'), ('import_graphile_worker', 'A'), ('import_json', 'A'), ('import_time', 'A'),
        ('import_payload', 'A'), ('import_fits', 'A'), ('import_rank', 'A'),
        -- Auditors.
        ('job_audit', 'AR'), ('list_audit', 'AR'), ('verify_audit', 'AR'), ('verify_audit_page', 'AR'), ('audit_checkpoint', 'AR'),
        -- Workers.
        ('register_worker', 'W'), ('beat_worker', 'W'), ('retire_worker', 'W'), ('hand_back_process', 'W'), ('unheld_leases', 'W'),
        ('claim_jobs', 'W'), ('extend_leases', 'W'), ('settle_jobs', 'W'), ('settle_or_raise', 'W'), ('complete_jobs', 'W'), ('complete_claims', 'W'), ('claim_lines', 'W'),
        ('report_progress', 'W'),
        ('append_logs', 'W'), ('ensure_job_types', 'WA'),
        -- Documents: what workers do to them, what callers see of them, what operators decide.
        ('begin_document', 'W'), ('document_work', 'W'), ('pipeline_definition', 'WAR'), ('register_pipelines', 'WA'), ('list_pipelines', 'AR'), ('page_results', 'W'), ('pages_of', 'W'), ('document_times', 'W'), ('settle_scan', 'W'), ('settle_page', 'W'), ('settle_pages', 'W'), ('settle_stage', 'W'), ('settle_image', 'W'),
        ('export_work', 'W'), ('reserve_export', 'W'), ('settle_export', 'W'),
        ('begin_call', 'W'), ('end_call', 'W'), ('keep_answer', 'W'), ('kept_answers', 'W'), ('begin_question', 'A'), ('end_question', 'A'), ('bind_providers', 'WA'),
        ('ask_parse', 'W'), ('note_parse', 'W'), ('end_parse', 'W'), ('parse_awaited', 'A'), ('receive_parse', 'A'), ('wake_parse', 'A'), ('expire_webhooks', 'KA'),
        ('get_document', 'ARSC'), ('list_documents', 'ARSC'), ('list_pages', 'ARSC'), ('list_facts', 'ARSC'), ('retry_document', 'ASC'), ('ask_image', 'ASC'), ('get_output', 'A'),
        ('begin_generation', 'W'), ('find_generation', 'W'), ('put_chunks', 'W'), ('settle_chunks', 'W'), ('pending_chunks', 'W'), ('reuse_vectors', 'W'), ('put_vectors', 'W'),
        ('place_chunks', 'W'), ('publish_generation', 'W'), ('list_chunks', 'W'), ('find_parsed', 'W'), ('take_capacity', 'W'), ('ingest_state', 'ARSC'), ('expire_generations', 'KA'),
        ('search_chunks', 'ARSC'),
        ('list_quarantine', 'AR'), ('release_quarantine', 'A'), ('set_budget', 'A'), ('list_spend', 'AR'), ('reconcile_documents', 'KA'),
        -- The keeper.
        ('elect', 'K'), ('work_at_hand', 'K'), ('resign', 'K'), ('reclaim', 'K'), ('promote_due', 'K'), ('advance', 'K'), ('expire_waiting', 'K'),
        ('run_cron', 'K'), ('fold_counters', 'K'), ('reconcile', 'K'), ('empty_intake', 'K'), ('maintain_partitions', 'K'), ('expire_keys', 'K'),
        ('expire_slots', 'K'), ('recheck_blocked', 'K'), ('seal_audit', 'K'), ('expire_exports', 'KA'), ('sweep_objects', 'KA'), ('adopt_files', 'KA')
      ) as f (name, components)
      cross join (values ('W', 'millrace_worker'), ('K', 'millrace_keeper'), ('A', 'millrace_api'), ('R', 'millrace_reader'),
                         ('S', 'service_role'), ('C', 'authenticated')) as c (letter, role)
      left join pg_catalog.pg_roles r on r.rolname = c.role
      left join pg_catalog.pg_proc p on p.pronamespace = 'millrace'::regnamespace and p.proname = f.name
     where position(c.letter in f.components) > 0
  loop
    if v_row.signature is null then
      raise exception 'the grants name millrace.%, which does not exist', v_row.name;
    elsif v_row.role is not null then
      execute format('grant execute on routine %s to %s', v_row.signature, v_row.role);
    end if;
  end loop;

  -- Reading. Tables appear because the views run with the rights of the reader; row policies decide which rows. Operators read
  -- every table but what was kept of requests, which holds answers for others, and what names content of anybody; they can settle nothing, so a fence is of
  -- no use to them.
  for v_row in
    select c.relname as name, quote_ident(r.rolname) as role
      from pg_catalog.pg_class c cross join pg_catalog.pg_roles r
     where c.relnamespace = 'millrace'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
       and c.relname not in ('job_intake', 'http_request', 'api_token', 'blob_removal') and r.rolname in ('millrace_api', 'millrace_reader')
  loop
    execute format('grant select on millrace.%I to %s', v_row.name, v_row.role);
  end loop;
  for v_row in
    select g.name, g.columns, quote_ident(r.rolname) as role
      from (values
        ('jobs', null, 'S'), ('job_queue', null, 'S'), ('export_jobs', null, 'SC'), ('upload_jobs', null, 'SC'), ('job', null, 'SC'),
        ('job_row', null, 'SC'), ('job_fact', null, 'S'), ('job_type', null, 'S'), ('queue', null, 'S'),
        ('job_fact', 'job_id, tenant_id, queue_id, type_id, priority, payload, job_name, job_category, owner_id, correlation_id, pipeline, '
                     'stage, batch_id, parent_id, max_attempts, scheduled_at, created_at, lane_id, lane_xid, seq', 'C'),
        ('job_type', 'type_id, job_type, max_attempts', 'C'), ('queue', 'queue_id, queue, max_attempts', 'C'),
        ('ready', 'job_id, generation, attempt, delivery_count, ready_at', 'SC'),
        ('delayed', 'job_id, generation, attempt, delivery_count, reason, due_at, delayed_at', 'SC'),
        ('lease', 'job_id, generation, attempt, delivery_count, worker_id, leased_at, renewed_at, lease_until, cancel_requested_at, '
                  'cancel_reason, progress, progress_message, progress_data', 'SC'),
        ('job_history', 'job_id, generation, status, reason, finished_at, started_at, worker_id, attempt, delivery_count, progress, '
                        'progress_data, result, error, redriven_at', 'SC'),
        ('lane_head', 'lane_id, lane_xid, lane_seq, late_xids, late_seqs', 'SC'), ('lane_gap', 'lane_id, lane_xid, seq', 'SC'),
        ('claim', 'claim_id, worker_id, claimed_at, job_ids, span', 'SC'), ('claim_open', 'claim_id, held, lease_until', 'SC'),
        ('claim_done', 'claim_id, at, done', 'SC'),
        ('attempt', 'job_id, attempt_seq, generation, outcome, charged, worker_id, started_at, ended_at, due_at, error', 'SC'),
        ('worker', 'worker_id, beat_at, lease_until', 'S'), ('api_rate_limits', null, 'S'),
        ('shell_files', null, 'SC'), ('export_history', null, 'SC'), ('user_profiles', null, 'SC'), ('result', null, 'SC'),
        ('storage_object', 'object_id, tenant_id, bucket, name, owner_id, size_bytes, content_type, cache_control, user_metadata, created_at, updated_at', 'SC'),
        ('artifact', 'id, job_id, tenant_id, kind, file_name, size_bytes, content_type, expires_at, created_at', 'SC')
      ) as g (name, columns, components)
      cross join (values ('S', 'service_role'), ('C', 'authenticated')) as c (letter, role)
      join pg_catalog.pg_roles r on r.rolname = c.role
     where position(c.letter in g.components) > 0
  loop
    execute format('grant select%s on millrace.%I to %s', coalesce(' (' || v_row.columns || ')', ''), v_row.name, v_row.role);
  end loop;
  for v_role in
    select quote_ident(r.rolname) from pg_catalog.pg_roles r where r.rolname in ('service_role', 'millrace_api')
  loop
    execute format('grant insert on millrace.job_intake to %s', v_role);
  end loop;
end;
$$;
