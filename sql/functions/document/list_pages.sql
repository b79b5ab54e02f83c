-- millrace.list_pages: the pages of a document of the caller behind p_after, each with what the stages made of it. `review`: of a page that was given up because of an answer that could not be used, that answer.
create or replace function millrace.list_pages(p_file_id uuid, p_after integer default 0, p_limit integer default 100) returns setof jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_file millrace.shell_files := millrace.visible_file(p_file_id);
begin
  return query
  select jsonb_build_object('page', p.page, 'state', p.state, 'failed_stage', p.failed_stage, 'failed_reason', p.failed_reason, 'review', (
             select millrace.refused_answer(row(a.*)::millrace.paid_answer) from millrace.paid_answer a
              where a.file_id = v_file.id and a.page = p.page and p.state = 'failed' and a.stage = p.failed_stage and a.refused is not null order by a.kept_at desc limit 1), 'width_pt', p.width_pt, 'height_pt', p.height_pt,
           'content_sha256', encode(p.content_sha256, 'hex'), 'stages', coalesce((
             select jsonb_object_agg(r.stage, r.meta || jsonb_build_object('sha256', encode(coalesce(r.part_sha256, r.sha256), 'hex'), 'reused', r.reused, 'run', r.run, 'at', r.created_at))
               from millrace.page_result r where r.file_id = v_file.id and r.page = p.page), '{}'))
    from millrace.page p where p.file_id = v_file.id and p.page > coalesce(p_after, 0) order by p.page limit least(greatest(coalesce(p_limit, 100), 1), 1000);
end;
$$;
