-- millrace.expire_ready: ready jobs whose start deadline has passed end as failed (expired) without having run.
create or replace function millrace.expire_ready(p_rows millrace.ready[]) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform millrace.fail_ready(p_rows, 'expired', jsonb_build_object('error_type', 'start_deadline', 'message', 'not started before its start deadline'));
end;
$$;
