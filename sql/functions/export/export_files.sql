-- millrace.export_files: where the files of completed exports lie, of those jobs that the caller may see: the one way to it for states, batches, archives
-- and streams. What has expired is none, whether it was removed yet or not (X-18). A job says it in its result as file_path, or as result_url in the source's words; else its history does.
-- Names are composed (NFC): some file systems take a letter with its mark and the two of them for one name.
create or replace function millrace.export_files(p_job_ids uuid[]) returns table (job_id uuid, file_path text, file_name text)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
begin
  return query
  select b.job_id, f.path, case when getdatabaseencoding() = 'UTF8' then normalize(n.name, nfc) else n.name end
    from unnest(p_job_ids) with ordinality u(id, n)
    cross join lateral millrace.job_brief_of(u.id) b
    left join millrace.export_history h on h.job_id = u.id and h.tenant_id = b.tenant_id
    cross join lateral (select coalesce(millrace.export_object(b.result ->> 'file_path'), millrace.export_object(b.result ->> 'result_url'), h.file_path) as path) f
    cross join lateral (select coalesce(nullif(b.result ->> 'file_name', ''), h.file_name) as name) n
   where b.job_type = 'export_pdf' and b.status = 'completed' and millrace.job_visible(b.tenant_id, b.owner_id, v_scope) and f.path is not null
     and (h.expires_at is null or h.expires_at > millrace.now())
   order by u.n;
end;
$$;
