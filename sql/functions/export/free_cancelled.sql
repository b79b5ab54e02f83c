-- millrace.free_cancelled: exports that were told to stop (X-20) and still run give up their dedupe keys for new ones of the same wish, whose specs are p_specs (an array of
-- millrace.export_spec): whoever cancels and orders again is not given the job that is about to end (X-21). Other jobs keep their keys to their end: there one key is one job.
-- Keys that are locked are passed by: the end of their job is giving them up at this moment, and millrace.enqueue_specs waits for that.
create or replace function millrace.free_cancelled(p_tenant uuid, p_specs jsonb) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  delete from millrace.dedupe_key k using (
    select o.type_id, o.dedupe_key from millrace.dedupe_key o
     where o.tenant_id = p_tenant and o.type_id = (select t.type_id from millrace.job_type t where t.job_type = 'export_pdf')
       and o.dedupe_key = any (array(select s ->> 'dedupe_key' from jsonb_array_elements(p_specs) s))
       and exists (select from millrace.lease l where l.job_id = o.job_id and l.cancel_requested_at is not null)
       for update skip locked) d
   where k.tenant_id = p_tenant and k.type_id = d.type_id and k.dedupe_key = d.dedupe_key;
end;
$$;
