-- millrace.promote_buffers_to_production: publishes what was built of a document, as the stage that does so will (millrace.publish_generation): all its chunks with their vectors of one model, in place of the ones before, and the
-- buffers are empty; where that is done already, nothing. Answers how many chunks are published. MR046 while a chunk or a vector is missing; MR041 for a document that is not the caller's.
create or replace function millrace.promote_buffers_to_production(p_document_id uuid) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_document millrace.document;
  v_generation uuid;
begin
  select d.* into v_document from millrace.document d where d.file_id = p_document_id and (v_scope is null or d.tenant_id = v_scope) for update;
  if not found then
    raise exception 'document % does not exist', p_document_id using errcode = 'MR041';
  end if;
  v_generation := (select g.generation_id from millrace.generation g where g.file_id = p_document_id and g.state = 'building');
  if v_generation is not null then
    perform millrace.publish_generation(v_document.job_id, v_generation);
    if exists (select from millrace.generation g where g.generation_id = v_generation and g.state = 'building') then
      raise exception 'document % has ended, and generation % with it', p_document_id, v_generation using errcode = 'MR046';
    end if;
  elsif not exists (select from millrace.generation g where g.file_id = p_document_id and g.state = 'published') then
    raise exception 'document % has no chunks', p_document_id using errcode = 'MR046';
  end if;
  return (select g.chunks_total from millrace.generation g where g.file_id = p_document_id and g.state = 'published');
end;
$$;
