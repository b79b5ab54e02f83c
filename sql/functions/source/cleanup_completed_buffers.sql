-- millrace.cleanup_completed_buffers: empties the buffers of a document whose chunks are published (B-20, B-22): what was not promoted is never removed here, but by the keeper after retention.generation_days. Publishing empties them
-- itself, so there is mostly nothing to do. Answers how many chunks were removed. MR041 for a document that is not the caller's.
create or replace function millrace.cleanup_completed_buffers(p_document_id uuid) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
  v_state text;
  v_count integer;
begin
  select d.state into v_state from millrace.document d where d.file_id = p_document_id and (v_scope is null or d.tenant_id = v_scope) for update;
  if not found then
    raise exception 'document % does not exist', p_document_id using errcode = 'MR041';
  elsif v_state not in ('completed', 'partial') then
    return 0;
  end if;
  delete from millrace.document_chunk_buffer b using millrace.generation g
   where b.document_id = p_document_id and g.generation_id = b.generation_id and g.state <> 'building';
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
