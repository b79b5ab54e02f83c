-- millrace.claim_jobs_of: the jobs that an event about a claim speaks of: all of the claim, or those whose bits it names.
create or replace function millrace.claim_jobs_of(p_data jsonb) returns uuid[]
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[];
  v_done bit varying := (p_data ->> 'done')::bit varying;
begin
  select c.job_ids into v_ids from millrace.claim c where c.claim_id = millrace.uuid_or_null(p_data ->> 'claim');
  if v_done is not null and v_done <> repeat('1', length(v_done))::bit varying then
    v_ids := array(select u.id from unnest(v_ids) with ordinality u(id, n) where u.n <= length(v_done) and get_bit(v_done, (u.n - 1)::integer) = 1 order by u.n);
  end if;
  return coalesce(v_ids, '{}');
end;
$$;
