-- millrace.count_downloads: the files of these exports are about to be downloaded together, by a caller who may see them: counts each once, however often its job is named, as millrace.count_download does for one.
-- Expired ones, and those that are not the caller's, are left alone. Answers how many were counted.
create or replace function millrace.count_downloads(p_job_ids uuid[]) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_user uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff') end;
  v_count integer;
begin
  -- In the order of their ids: archives that share files are fetched at the same time.
  with held as materialized (
    select h.id from millrace.export_history h
     where h.job_id = any (p_job_ids) and h.expires_at > millrace.now() and (v_scope is null or h.tenant_id = v_scope) and (v_user is null or h.user_id = v_user)
     order by h.id for no key update)
  update millrace.export_history h set download_count = h.download_count + 1 from held where h.id = held.id;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
