-- millrace.export_work: what a worker needs to know to do an export: the version of the document that was ordered (or, of an order that names none, the current one), the options
-- and whose it is. A document that is gone, or lies elsewhere: no document in the answer.
create or replace function millrace.export_work(p_job_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_answer jsonb;
begin
  select jsonb_build_object('tenantId', f.tenant_id, 'userId', f.owner_id, 'options', coalesce(f.payload -> 'options', '{}'),
      -- The user's own person, once it has a name; other profiles are other people.
      'author', (select p.display_name from millrace.user_profiles p where p.id = millrace.default_profile_id(f.tenant_id, f.owner_id) and p.display_name <> 'self'),
      'document', case when v.document_id is not null
        then millrace.export_document_json(row(d.*)::millrace.export_document, row(v.*)::millrace.export_document_version, true) end)
    into v_answer
    from millrace.job_fact f
    left join millrace.export_document d on d.document_id = millrace.uuid_or_null(f.payload ->> 'document_id') and d.tenant_id = f.tenant_id and d.user_id = f.owner_id
    left join millrace.export_document_version v on v.document_id = d.document_id and v.version = coalesce(millrace.json_integer(f.payload, 'document_version'), d.version)
   where f.job_id = p_job_id;
  if v_answer is null then
    raise exception 'job % does not exist', p_job_id using errcode = 'MR009';
  end if;
  return v_answer;
end;
$$;
