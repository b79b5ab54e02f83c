-- millrace.pgmq_type: the job type behind a queue of messages; MR007 where nobody has made it (millrace.pgmq_create).
create or replace function millrace.pgmq_type(p_queue_name text) returns smallint
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_type smallint;
begin
  select t.type_id into v_type from millrace.job_type t where t.job_type = 'pgmq.' || lower(p_queue_name);
  if not found then
    raise exception 'queue % does not exist', quote_literal(p_queue_name) using errcode = 'MR007', hint = 'pgmq_create makes it';
  end if;
  return v_type;
end;
$$;
