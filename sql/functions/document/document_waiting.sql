-- millrace.document_waiting: why a document does not go on: of its jobs that a worker could not do yet (the program that reads cannot be started, a provider is not configured, limited or over its budget) the one that
-- comes first: its reason, until when it waits (null: for an event, or its turn), stage, and how many wait with it. Null where none does. By the whole batch: for one document, not for lists.
create or replace function millrace.document_waiting(p_file millrace.shell_files) returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_document millrace.document;
begin
  if p_file.status not in ('uploaded', 'processing') then
    return null;
  end if;
  select d.* into v_document from millrace.document d where d.file_id = p_file.id;
  return (
    select jsonb_build_object('reason', coalesce(a.error ->> 'message', a.outcome), 'until', w.due_at, 'stage', t.job_type, 'jobs', count(*) over ())
      from (select j.job_id, j.type_id from millrace.job_fact j where j.job_id = coalesce(v_document.job_id, case when v_document.batch_id is null then p_file.job_id end)
            union all
            select j.job_id, j.type_id from millrace.job_fact j where j.batch_id = v_document.batch_id) j
      join (select d.job_id, nullif(d.due_at, 'infinity') as due_at from millrace.delayed d where d.delivery_count > 0
            union all
            select r.job_id, null from millrace.ready r where r.delivery_count > 0) w on w.job_id = j.job_id
      join millrace.job_type t on t.type_id = j.type_id
      cross join lateral (select x.outcome, x.error from millrace.attempt x where x.job_id = j.job_id order by x.attempt_seq desc limit 1) a
     where a.outcome in ('throttled', 'blocked')
     order by w.due_at nulls last, j.job_id limit 1);
end;
$$;
