-- millrace.expire_keys: removes dedupe keys kept past their time, idempotency answers after a day, batches nobody needs, and what the server kept for
-- a while: requests, results, exports, documents that never became a file. Files that came while enqueue was switched off get their jobs;
-- what tenants stored is added up.
create or replace function millrace.expire_keys(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_count integer;
  v_total integer := 0;
begin
  delete from millrace.dedupe_key k using (
    select d.tenant_id, d.type_id, d.dedupe_key from millrace.dedupe_key d where d.keep_until < millrace.now() limit p_limit for update skip locked) s
   where k.tenant_id = s.tenant_id and k.type_id = s.type_id and k.dedupe_key = s.dedupe_key;
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  delete from millrace.idempotency_key k using (
    select i.tenant_id, i.idempotency_key from millrace.idempotency_key i where i.created_at < millrace.now() - interval '1 day' limit p_limit
       for update skip locked) s
   where k.tenant_id = s.tenant_id and k.idempotency_key = s.idempotency_key;
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  delete from millrace.batch b using (
    select x.batch_id from millrace.batch x
     where x.finished_at < millrace.now() - make_interval(days => millrace.config_integer('retention.history_days', 30)) limit p_limit for update skip locked) s
   where b.batch_id = s.batch_id;
  get diagnostics v_count = row_count;
  v_total := v_total + v_count;
  delete from millrace.http_request r using (
    select x.tenant_id, x.scope, x.request_key from millrace.http_request x where x.expires_at < millrace.now() limit p_limit for update skip locked) s
   where r.tenant_id = s.tenant_id and r.scope = s.scope and r.request_key = s.request_key;
  get diagnostics v_count = row_count;
  perform millrace.fold_usages(p_limit);
  return v_total + v_count + millrace.expire_results(p_limit) + millrace.sweep_exports(p_limit) + millrace.sweep_objects(p_limit) + millrace.adopt_files(p_limit)
       + millrace.reconcile_documents(p_limit) + millrace.expire_calls(p_limit) + millrace.expire_webhooks(p_limit) + millrace.expire_generations(p_limit);
end;
$$;
