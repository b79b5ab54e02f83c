-- millrace.put_facts: the clinical facts of a page, in place of those it had. Each: fact_id, type, name, subject, polarity, certainty, temporality, value, codes, evidence, conf,
-- route, dated.
create or replace function millrace.put_facts(p_document millrace.document, p_page integer, p_facts jsonb, p_job_id uuid) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  delete from millrace.clinical_fact c where c.file_id = p_document.file_id and c.page = p_page;
  insert into millrace.clinical_fact (id, tenant_id, patient_id, file_id, page, fact_id, type, name, subject, polarity, certainty, temporality, value, codes, evidence, conf, route,
      dated, job_id, created_at)
  select millrace.new_id(), p_document.tenant_id, f.patient_id, p_document.file_id, p_page, i ->> 'fact_id', i ->> 'type', left(i ->> 'name', 1000), i ->> 'subject',
         i ->> 'polarity', i ->> 'certainty', i ->> 'temporality', i -> 'value', coalesce(i -> 'codes', '[]'), i -> 'evidence', (i ->> 'conf')::double precision,
         i ->> 'route', i ->> 'dated', p_job_id, millrace.now()
    from jsonb_array_elements(p_facts) with ordinality e(i, n), millrace.shell_files f where f.id = p_document.file_id order by e.n;
end;
$$;
