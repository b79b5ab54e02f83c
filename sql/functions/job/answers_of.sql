-- millrace.answers_of: what a settling call answers for each delivery it named, in its order; p_done are those that were settled.
-- With plans of its own: two lists of thousands are joined by hashing, or the time grows with their product.
create or replace function millrace.answers_of(p_items millrace.moving[], p_done millrace.moving[]) returns table (job_id uuid, answer text)
  language plpgsql stable set search_path = pg_catalog, pg_temp set enable_hashjoin = on set enable_nestloop = off
as $$
begin
  return query
  select i.job_id, case when t.error ->> 'error_type' = 'invalid_effects'
                          -- See millrace.merge_outcomes.
                          or t.outcome = 'cancelled' and t.cancel_reason is not null and i.outcome in ('ok', 'permanent') then 'replaced'
                        when t.job_id is not null then 'settled'
                        else millrace.explain_stale(i.job_id, i.token) end
    from unnest(p_items) with ordinality i left join unnest(p_done) t on t.job_id = i.job_id and t.token = i.token
   order by i.ordinality;
end;
$$;
