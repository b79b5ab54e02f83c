-- millrace.judge_keys: may these jobs of one tenant and queue start now, as far as their serial or concurrency keys are concerned?
-- 'run', 'park' (others of the key come first), or 'skip' (somebody else judges the key at this moment).
-- The judgement is safe because every claimer of the key holds the same transaction-scoped lock while it judges and until its leases
-- are visible. The jobs are given in the order of the line, and answered so.
create or replace function millrace.judge_keys(p_rows millrace.ready[], p_tenant uuid, p_queue_id smallint, p_max integer)
  returns table (job_id uuid, key text, seq bigint, verdict text) language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[];
  v_keys text[];
  v_seqs bigint[];
  v_places bigint[];
  v_locked boolean[];
begin
  select array_agg(y.id order by y.n), array_agg(y.k order by y.n), array_agg(y.s order by y.n), array_agg(y.place order by y.n),
         array_agg(y.locked order by y.n)
    into v_ids, v_keys, v_seqs, v_places, v_locked
    from (select x.*, bool_or(x.got) over (partition by x.k) as locked
            from (select w.*, case when w.place = 1 then pg_try_advisory_xact_lock(millrace.key_lock(p_tenant, p_queue_id, w.k)) end as got
                    from (select f.job_id as id, f.seq as s, r.ordinality as n, k.k,
                                 -- A serial key has an order of its own, whatever the line says.
                                 row_number() over (partition by k.k order by case when f.flags & 2 <> 0 then f.seq else r.ordinality end) as place
                            from unnest(p_rows) with ordinality r
                            join millrace.job_fact f on f.job_id = r.job_id
                            cross join lateral (
                              select case when f.flags & 2 <> 0 then 's:' || f.serial_key else 'c:' || f.concurrency_key end as k) k) w) x) y;
  -- In a statement of its own: it must see what those who had the locks before have committed.
  return query
  select y.id, y.k, y.s,
         case when not y.locked then 'skip' when y.place <= y.room then 'run' else 'park' end
    from (select x.*, max(case when x.place = 1 then x.free end) over (partition by x.k) as room
            from (select u.*,
                         case when u.place > 1 or not u.locked then null
                              when left(u.k, 2) = 's:' then case when exists (
                                     select from millrace.lease l where l.queue_id = p_queue_id and l.tenant_id = p_tenant and l.lease_key = u.k)
                                   or exists (select from millrace.serial_member m where m.tenant_id = p_tenant and m.queue_id = p_queue_id
                                                 and m.serial_key = substr(u.k, 3) and m.seq < u.s) then 0 else 1 end
                              else p_max - (select count(*) from millrace.lease l
                                             where l.queue_id = p_queue_id and l.tenant_id = p_tenant and l.lease_key = u.k) end as free
                    from unnest(v_ids, v_keys, v_seqs, v_places, v_locked) with ordinality u(id, k, s, place, locked, n)) x) y
   order by y.n;
end;
$$;
