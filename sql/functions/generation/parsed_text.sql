-- millrace.parsed_text: the text of a document: its one form where the stage `validate` has made it in the last run, before that what the parser handed over; null where there is none.
create or replace function millrace.parsed_text(p_document millrace.document) returns millrace.page_result
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select r.* from millrace.pipeline_version v cross join lateral jsonb_array_elements(v.definition -> 'stage') s
    join millrace.page_result r on r.file_id = p_document.file_id and r.page = 0 and r.stage = s ->> 'name'
   where v.hash = p_document.pipeline_hash and s ->> 'run' in ('parse', 'validate')
   order by r.run desc, s ->> 'run' = 'validate' desc limit 1
$$;
