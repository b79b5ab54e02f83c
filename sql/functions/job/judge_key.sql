-- millrace.judge_key: may this job start now, as far as its serial or concurrency key is concerned?
-- 'run', 'park' (others of the key come first), or 'skip' (somebody else judges the key at this moment).
-- The judgement is safe because every claimer of the key holds the same transaction-scoped lock while it judges
-- and until its lease is visible.
create or replace function millrace.judge_key(p_job_id uuid, p_tenant uuid, p_queue_id smallint, p_key text, p_seq bigint, p_max integer)
  returns text language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if not pg_try_advisory_xact_lock(hashtextextended(p_tenant::text || ':' || p_queue_id || ':' || p_key, 7077)) then
    return 'skip';
  end if;
  if left(p_key, 2) = 's:' then
    if exists (select from millrace.lease l where l.queue_id = p_queue_id and l.tenant_id = p_tenant and l.lease_key = p_key)
       or exists (select from millrace.serial_member m where m.tenant_id = p_tenant and m.queue_id = p_queue_id
                     and m.serial_key = substr(p_key, 3) and m.seq < p_seq) then
      return 'park';
    end if;
    return 'run';
  end if;
  if (select count(*) from millrace.lease l where l.queue_id = p_queue_id and l.tenant_id = p_tenant and l.lease_key = p_key) >= p_max then
    return 'park';
  end if;
  return 'run';
end;
$$;
