-- millrace.resolve_partly: the error record of a file that was processed but for some pages, or without an answer about all of it (G-09): what these failed for stays open, and the newest of that is what is
-- wrong now. All else was overcome, and is marked.
create or replace function millrace.resolve_partly(p_file_id uuid, p_record jsonb) returns jsonb
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case when p_record is not null then p_record || (
    select jsonb_build_object(
             'current_error', (array_agg((e.item - 'resolved') || '{"next_retry_at": null}' order by e.n desc) filter (where e.open))[1],
             'error_history', coalesce(jsonb_agg(case when e.open then e.item else e.item || '{"resolved": true}' end order by e.n), '[]'))
      from (select h.item, h.n, h.item -> 'resolved' is distinct from 'true'
                   and case when h.item ->> 'page' is not null
                         then h.item -> 'page' in (select to_jsonb(p.page) from millrace.page p where p.file_id = p_file_id and p.state = 'failed')
                         else exists (select from millrace.paid_answer a
                                       where a.file_id = p_file_id and a.page = 0 and a.refused = h.item ->> 'code' and a.stage = h.item ->> 'job_type') end as open
              from jsonb_array_elements(p_record -> 'error_history') with ordinality h(item, n)) e) end
$$;
