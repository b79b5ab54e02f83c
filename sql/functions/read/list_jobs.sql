-- millrace.list_jobs: a page of jobs the caller may see, newest first, behind p_before. Filters: queue, job_type, status, batch_id, correlation_id,
-- owner_id, fingerprint (of dead letters). Answers jobs, and `next`, the p_before of the page after it; null at the end. The cost has a bound
-- that does not depend on how many jobs there are: a page may hold fewer jobs than asked for, or none, and there may still be a next one.
create or replace function millrace.list_jobs(p_filter jsonb default '{}', p_before uuid default null, p_limit integer default 50) returns json
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  v_filter jsonb := coalesce(p_filter, '{}');
  v_limit integer := least(greatest(coalesce(p_limit, 50), 1), 200);
  v_scope uuid := millrace.tenant_scope();
  v_owner uuid := case when millrace.caller() = 'authenticated' then coalesce(millrace.current_user_id(), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
                       else millrace.uuid_or_null(v_filter ->> 'owner_id') end;
  v_bad text := (select e.key from jsonb_each(v_filter) e where e.key not in ('queue', 'job_type', 'status', 'batch_id', 'correlation_id', 'owner_id', 'fingerprint')
                    or jsonb_typeof(e.value) <> 'string' or (e.key in ('batch_id', 'owner_id') and millrace.uuid_or_null(e.value #>> '{}') is null) limit 1);
  v_found record;
  v_id uuid;
  v_job millrace.job_brief;
  v_jobs json[] := '{}';
  v_next uuid;
  v_looked integer := 0;
  v_scan integer;
begin
  if v_bad is not null then
    raise exception '% is no filter, or has no valid value', v_bad using errcode = 'MR024', hint = 'queue, job_type, status, batch_id, correlation_id, owner_id, fingerprint';
  end if;
  if v_filter ? 'status' and v_filter ->> 'status' not in ('pending', 'processing', 'completed', 'failed', 'cancelled', 'retrying', 'deferred') then
    raise exception 'status must be pending, processing, completed, failed, cancelled, retrying or deferred' using errcode = 'MR024';
  end if;
  -- The owner's index begins with the tenant.
  if v_owner is not null and v_scope is null then
    v_scope := millrace.tenant_of_user(v_owner);
  end if;
  -- A little at first: most pages are full at once. Then as much as a page may cost.
  foreach v_scan in array array[2 * v_limit, 5000] loop
    select c.job_ids, c.looked_to into v_found from millrace.list_job_ids(v_filter, v_scope, v_owner, p_before, v_scan) c;
    v_jobs := '{}';
    v_looked := 0;
    v_next := v_found.looked_to;
    foreach v_id in array v_found.job_ids loop
      v_job := millrace.job_brief_of(v_id, false);
      v_looked := v_looked + 1;
      if v_job.job_id is not null and (not v_filter ? 'status' or v_job.status = v_filter ->> 'status') then
        v_jobs := v_jobs || row_to_json(v_job);
      end if;
      if cardinality(v_jobs) = v_limit or v_looked = 1000 then
        -- Behind the last candidate the next page begins where the look ended.
        if v_id <> v_found.job_ids[cardinality(v_found.job_ids)] then
          v_next := v_id;
        end if;
        exit;
      end if;
    end loop;
    exit when cardinality(v_jobs) = v_limit or v_next is null;
  end loop;
  return json_build_object('jobs', array_to_json(v_jobs), 'next', v_next);
end;
$$;
