-- millrace.source_lease: how long a job claimed through the source-named functions is held without a heartbeat: the configured
-- time-out, for an export its queue's lease (its clients send no heartbeats).
create or replace function millrace.source_lease(p_type_id smallint) returns interval
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select case when t.job_type = 'export_pdf' then q.lease
                else make_interval(secs => millrace.config_integer('worker.timeout_seconds', 300)) end
      from millrace.job_type t join millrace.queue q on q.queue_id = t.queue_id where t.type_id = p_type_id);
end;
$$;
