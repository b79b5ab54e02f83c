-- millrace.sweep_slots: deletes the dead slots of a provider, at most p_limit (null: all), and says
-- how many. The caller holds the provider row. A slot bound to a job lives exactly as long as the
-- lease with the same token, one of a claim as long as the claim is open; an anonymous one until its own lease ends. Slots of this very
-- transaction live: a claim may ask for room again before it has written its leases.
create or replace function millrace.sweep_slots(p_provider_id integer, p_at timestamptz,
                                                p_limit integer default null)
  returns integer language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_swept integer;
begin
  delete from millrace.provider_slot s
   where s.slot_id = any (array(
     select d.slot_id
       from millrace.provider_slot d
      where d.provider_id = p_provider_id
        and case when d.claim_id is not null
                 then d.xmin <> pg_current_xact_id()::xid
                  and not exists (select from millrace.claim_open o where o.claim_id = d.claim_id)
                 when d.job_id is null then d.lease_until <= p_at
                 else d.xmin <> pg_current_xact_id()::xid
                  and not exists (select from millrace.lease l
                                   where l.job_id = d.job_id and l.token = d.token) end
      limit p_limit));
  get diagnostics v_swept = row_count;
  return v_swept;
end;
$$;
