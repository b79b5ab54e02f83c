-- millrace.page_json: one page of a document as a stage needs it; null where there is none.
create or replace function millrace.page_json(p_file_id uuid, p_page integer) returns jsonb
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('page', p.page, 'content_sha256', encode(p.content_sha256, 'hex'), 'width_pt', p.width_pt, 'height_pt', p.height_pt,
           'rotation_deg', p.rotation_deg, 'text_chars', p.text_chars, 'state', p.state)
    from millrace.page p where p.file_id = p_file_id and p.page = p_page
$$;
