-- millrace.order_exports: a user orders exports of own documents, all of them or none: {"jobId"}, or with p_request.batch {"batchId", "jobs": [{"jobId",
-- "documentId", "status", "progress"}]}, each document once. While the same wish is under way its job is the answer (X-21), also as a member of another
-- batch; that takes no room. A job that was told to stop (X-20) is no answer any more, also while it still runs. What is new is refused with MR008 while three of the user's exports run (X-11: those that wait are not counted), and with
-- MR027 when the files that can be downloaded, and what is kept for exports that are not finished, fill the quota (X-19, E12), and with MR044 when the user has
-- ordered enough for a day (L-18; detail: seconds until the next begins). MR043: a document that the user has not got. MR024: options that are none (X-02).
-- Callers for one user stand in line, so that each sees what those before it have taken.
-- p_request: batch (boolean), correlation_id, traceparent: kept with the jobs.
create or replace function millrace.order_exports(p_user_id uuid, p_documents uuid[], p_options jsonb, p_request jsonb default '{}') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_limit bigint := millrace.config_bigint('export.quota_bytes', 104857600);
  v_tenant uuid;
  v_options jsonb := millrace.check_export_options(p_options);
  v_setting text := current_setting('millrace.tenant_id', true);
  v_batch uuid;
  v_ids jsonb := jsonb_strip_nulls(jsonb_build_object('correlation_id', p_request ->> 'correlation_id', 'traceparent', p_request ->> 'traceparent'));
  v_documents uuid[] := array(select d.id from (select u.id, min(u.n) as n from unnest(p_documents) with ordinality u(id, n) group by u.id) d order by d.n);
  v_specs jsonb;
  v_jobs uuid[];
  v_new boolean[];
  v_count integer;
  v_room record;
  v_bytes bigint := millrace.config_bigint('export.reserve_bytes', 1048576);
begin
  if p_user_id is null or cardinality(v_documents) not between 1 and 10 or array_position(v_documents, null) is not null then
    raise exception 'an order names a user and 1 to 10 documents' using errcode = 'MR024';
  end if;
  v_tenant := coalesce(millrace.tenant_scope(), millrace.tenant_of_user(p_user_id));
  perform millrace.lock_exports(v_tenant, p_user_id);
  -- Held until the jobs are there: no version is forgotten, and no document deleted, between the look at it and the order.
  perform from millrace.export_document d where d.document_id = any (v_documents) and d.tenant_id = v_tenant and d.user_id = p_user_id order by d.document_id for share;
  get diagnostics v_count = row_count;
  if v_count < cardinality(v_documents) then
    raise exception 'Document not found' using errcode = 'MR043';
  end if;
  if coalesce((p_request ->> 'batch')::boolean, false) then
    -- The caller may be confined to no tenant: the batch is the user's like its jobs.
    perform set_config('millrace.tenant_id', v_tenant::text, true);
    v_batch := millrace.open_batch('{"name": "export"}');
    v_ids := v_ids || jsonb_build_object('batch_id', v_batch);
  end if;
  select jsonb_agg(millrace.export_spec(v_tenant, p_user_id, d.id, v_options) || v_ids order by d.n) into v_specs
    from unnest(v_documents) with ordinality d(id, n);
  perform millrace.free_cancelled(v_tenant, v_specs);
  select array_agg(e.job_id order by e.ord), array_agg(e.answer = 'created' order by e.ord) into v_jobs, v_new
    from millrace.enqueue_specs(millrace.specs_from_json(v_specs), v_tenant) e;
  v_count := (select count(*) from unnest(v_new) n where n);
  if v_count > 0 then
    select r.running, r.used, r.reserved into v_room from millrace.export_room(v_tenant, p_user_id) r;
    if v_room.running >= millrace.config_integer('export.running_max', 3) then
      raise exception '%', case when v_batch is null then 'Export queue full, please wait'
                                else 'Export queue full. Please wait for current exports to complete.' end using errcode = 'MR008';
    end if;
    -- The last of them must find room, too.
    if v_room.used + v_room.reserved + (v_count - 1) * v_bytes >= v_limit then
      raise exception 'Storage quota exceeded (%MB / %MB). Delete old exports to continue.',
        round((v_room.used + v_room.reserved) / 1048576.0, 2), trim_scale(round(v_limit / 1048576.0, 2)) using errcode = 'MR027';
    end if;
    perform millrace.count_operations(v_tenant, p_user_id, v_count);
    insert into millrace.export_reservation (job_id, tenant_id, user_id, bytes, document_id, document_version)
    select v_jobs[i], v_tenant, p_user_id, v_bytes, d.document_id, d.version
      from generate_subscripts(v_jobs, 1) i join millrace.export_document d on d.document_id = v_documents[i] where v_new[i] on conflict do nothing;
  end if;
  if v_batch is null then
    return jsonb_build_object('jobId', v_jobs[1]);
  end if;
  insert into millrace.export_batch_job (batch_id, position, job_id, tenant_id)
  select v_batch, i, v_jobs[i], v_tenant from generate_subscripts(v_jobs, 1) i;
  perform millrace.seal_batch(v_batch);
  perform set_config('millrace.tenant_id', coalesce(v_setting, ''), true);
  return jsonb_build_object('batchId', v_batch, 'jobs', (
    select jsonb_agg(jsonb_build_object('jobId', b.job_id, 'documentId', v_documents[i], 'status', millrace.export_status(b.status), 'progress', b.progress)
                     order by i)
      from generate_subscripts(v_jobs, 1) i cross join lateral millrace.job_brief_of(v_jobs[i], false) b));
end;
$$;
