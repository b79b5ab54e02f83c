-- millrace.export_preview: the picture of the first page that an export has left, for whoever may see the job: {"id", "tenant_id", "sha256", "size_bytes",
-- "content_type", "store_key"}, as the server needs it to hand out the bytes. MR031 where there is none, or none any more.
create or replace function millrace.export_preview(p_job_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_answer jsonb;
begin
  select jsonb_build_object('id', a.id, 'tenant_id', a.tenant_id, 'sha256', encode(a.sha256, 'hex'), 'size_bytes', a.size_bytes, 'content_type', a.content_type,
                            'store_key', b.store_key) into v_answer
    from millrace.job_fact f
    join millrace.job_type t on t.type_id = f.type_id and t.job_type = 'export_pdf'
    join millrace.artifact a on a.job_id = f.job_id and a.kind = 'preview'
    join millrace.blob_object b on b.tenant_id = a.tenant_id and b.sha256 = a.sha256
   where f.job_id = p_job_id and millrace.job_visible(f.tenant_id, f.owner_id, millrace.tenant_scope()) and (a.expires_at is null or a.expires_at > millrace.now())
   order by a.id desc limit 1;
  if v_answer is null then
    raise exception 'Preview not found' using errcode = 'MR031';
  end if;
  return v_answer;
end;
$$;
