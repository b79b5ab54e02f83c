-- millrace.drop_exports: removes exports, the pictures of their first pages, and the objects they name, unless another export names the same; also the versions of documents that
-- only they named. An export that has lost its job to a later one of the same job (millrace.settle_export) has no picture any more.
create or replace function millrace.drop_exports(p_ids uuid[], p_reason text) returns setof millrace.export_history
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_row millrace.export_history;
begin
  for v_row in select h.* from millrace.export_history h where h.id = any (p_ids) order by h.id for update loop
    delete from millrace.export_history h where h.id = v_row.id;
    delete from millrace.storage_object o
     where o.tenant_id = v_row.tenant_id and o.bucket = 'exports' and o.name = v_row.file_path
       and not exists (select from millrace.export_history h where h.tenant_id = o.tenant_id and h.file_path = o.name);
    if v_row.job_id is not null then
      delete from millrace.artifact a where a.job_id = v_row.job_id and a.kind = 'preview';
    end if;
    if v_row.document_version is not null then
      perform millrace.drop_versions(v_row.document_id, v_row.document_version);
    end if;
    perform millrace.audit_for(v_row.tenant_id, 'export_history', v_row.id::text, 'export_removed', jsonb_build_object('file_size', v_row.file_size, 'job_id', v_row.job_id),
                               null, p_reason);
    return next v_row;
  end loop;
end;
$$;
