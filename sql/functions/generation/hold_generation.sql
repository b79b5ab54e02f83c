-- millrace.hold_generation: the generation that the held stage builds; MR001 where it is not being built any more: somebody else went on.
create or replace function millrace.hold_generation(p_job_id uuid, p_token uuid, p_generation_id uuid) returns millrace.generation
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_document millrace.document := millrace.hold_stage(p_job_id, p_token);
  v_row millrace.generation;
begin
  select g.* into v_row from millrace.generation g where g.generation_id = p_generation_id and g.file_id = v_document.file_id and g.state = 'building';
  if not found then
    raise exception 'generation % of document % is not being built', p_generation_id, v_document.file_id using errcode = 'MR001';
  end if;
  return v_row;
end;
$$;
