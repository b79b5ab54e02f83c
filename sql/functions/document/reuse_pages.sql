-- millrace.reuse_pages: takes over what is known already of the pages of a document, and answers the pages that are left to do. Facts of an equal page go along, for this patient; what it cost does not:
-- that was paid once, for the other page.
-- What the stage made of pages as they were before goes. The equal page is not locked: two documents that look at each other would wait for ever. Its content cannot go while this transaction refers
-- to it (foreign key); its facts are replaced together with its result, so they belong to it if that is still there after they were read.
create or replace function millrace.reuse_pages(p_document millrace.document, p_stage text, p_version text, p_inputs text[]) returns integer[]
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_patient uuid := (select f.patient_id from millrace.shell_files f where f.id = p_document.file_id);
  v_left integer[] := '{}';
  v_keep integer[] := '{}';
  v_costs constant text[] := '{tokens_in,tokens_out,tokens_of_claim,cost_micros}';
  v_item record;
begin
  for v_item in
    select k.page, k.reuse_key, r.file_id as own, o.file_id, o.page as other_page, o.sha256, o.size_bytes, o.part_offset, o.part_sha256, o.meta
      from millrace.reuse_keys(p_document.file_id, p_stage, p_version, p_inputs) k
      left join millrace.page_result r on r.file_id = p_document.file_id and r.page = k.page and r.stage = p_stage and r.reuse_key = k.reuse_key
      left join lateral (
        select x.file_id, x.page, x.sha256, x.size_bytes, x.part_offset, x.part_sha256, x.meta from millrace.page_result x
         where r.file_id is null and x.tenant_id = p_document.tenant_id and x.stage = p_stage and x.reuse_key = k.reuse_key and x.page > 0
         order by x.created_at desc limit 1) o on true
     order by k.page
  loop
    if v_item.own is not null then
      v_keep := v_keep || v_item.page;
      continue;
    end if;
    if v_item.sha256 is null then
      v_left := v_left || v_item.page;
      continue;
    end if;
    insert into millrace.page_result as r (file_id, page, stage, tenant_id, reuse_key, sha256, size_bytes, part_offset, part_sha256, meta, run, reused, created_at)
    values (p_document.file_id, v_item.page, p_stage, p_document.tenant_id, v_item.reuse_key, v_item.sha256, v_item.size_bytes, v_item.part_offset, v_item.part_sha256, v_item.meta - v_costs, p_document.run, true, v_now)
    on conflict (file_id, page, stage) do update
       set reuse_key = excluded.reuse_key, sha256 = excluded.sha256, size_bytes = excluded.size_bytes, part_offset = excluded.part_offset, part_sha256 = excluded.part_sha256, meta = excluded.meta, job_id = null, run = excluded.run, reused = true,
           created_at = excluded.created_at;
    delete from millrace.paid_answer a where a.file_id = p_document.file_id and a.page = v_item.page and a.stage = p_stage;
    delete from millrace.clinical_fact c where c.file_id = p_document.file_id and c.page = v_item.page and v_item.meta ? 'facts';
    insert into millrace.clinical_fact (id, tenant_id, patient_id, file_id, page, fact_id, type, name, subject, polarity, certainty, temporality, value, codes, evidence, conf, route,
        dated, created_at)
    select millrace.new_id(), c.tenant_id, v_patient, p_document.file_id, v_item.page, c.fact_id, c.type, c.name, c.subject, c.polarity, c.certainty, c.temporality, c.value, c.codes,
           c.evidence, c.conf, c.route, c.dated, v_now
      from millrace.clinical_fact c
     where c.file_id = v_item.file_id and c.page = v_item.other_page and (v_item.meta ? 'facts');
    if v_item.meta ? 'facts' and not exists (
        select from millrace.page_result x where x.file_id = v_item.file_id and x.page = v_item.other_page and x.stage = p_stage and x.reuse_key = v_item.reuse_key) then
      v_left := v_left || v_item.page;
      continue;
    end if;
    v_keep := v_keep || v_item.page;
    insert into millrace.audit (at, tenant_id, actor, table_name, record_id, operation, action, new_values, reason, category, patient_id)
    values (v_now, p_document.tenant_id, millrace.actor(), 'page_result', p_document.file_id || '/' || v_item.page || '/' || p_stage, 'UPDATE', 'page_written',
            jsonb_build_object('sha256', encode(coalesce(v_item.part_sha256, v_item.sha256), 'hex'), 'from', v_item.file_id), 'Page of a document taken over from an equal one', 'clinical', v_patient);
  end loop;
  perform millrace.drop_stale(p_document, p_stage, v_keep, null);
  return v_left;
end;
$$;
