-- millrace.keep_answer: an answer that was paid for, kept with the end of its call (p_end as in millrace.end_call) in one transaction, until the stage has made its result of all answers about the page (millrace.put_results).
-- Fenced by the lease (MR001); MR039 where the file is gone. About a page that is no more, or a file that was refused meanwhile, nothing is kept: nobody would come back for it. Said again it changes nothing. p_answer: question_sha256, model, response_id, answer; of one that cannot be used refused and reason.
create or replace function millrace.keep_answer(p_job_id uuid, p_token uuid, p_call_id uuid, p_end jsonb, p_answer jsonb) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_useless boolean;
begin
  perform millrace.hold_lease(p_job_id, p_token);
  select d.state = 'rejected' and not millrace.only_quarantined(d.findings)
         or (j.payload ->> 'page')::integer > 0 and not exists (select from millrace.page g where g.file_id = d.file_id and g.page = (j.payload ->> 'page')::integer) into v_useless
    from millrace.job_fact j join millrace.document d on d.file_id = millrace.uuid_or_null(j.payload ->> 'shell_file_id') and d.tenant_id = j.tenant_id where j.job_id = p_job_id;
  if v_useless then
    perform millrace.end_call(p_call_id, p_end);
    return;
  end if;
  insert into millrace.paid_answer as a (file_id, page, stage, question_sha256, tenant_id, job_id, generation, call_id, model, response_id, answer, input_tokens, output_tokens, cost_micros, refused, reason, kept_at)
  select d.file_id, coalesce((j.payload ->> 'page')::integer, 0), t.job_type, decode(p_answer ->> 'question_sha256', 'hex'), d.tenant_id, c.job_id, c.generation, c.call_id, p_answer ->> 'model',
         left(p_answer ->> 'response_id', 200), p_answer ->> 'answer', coalesce((p_end ->> 'input_tokens')::bigint, 0), coalesce((p_end ->> 'output_tokens')::bigint, 0), coalesce((p_end ->> 'cost_micros')::bigint, 0),
         left(p_answer ->> 'refused', 100), left(p_answer ->> 'reason', 1000), millrace.now()
    from millrace.job_fact j
    join millrace.job_type t on t.type_id = j.type_id
    join millrace.document d on d.file_id = millrace.uuid_or_null(j.payload ->> 'shell_file_id') and d.tenant_id = j.tenant_id
    join millrace.provider_call c on c.call_id = p_call_id and c.job_id = j.job_id
   where j.job_id = p_job_id
  -- The question was asked anew: what was wrong with the answer before is not wrong with this one.
  on conflict (file_id, page, stage, question_sha256) do update
     set job_id = excluded.job_id, generation = excluded.generation, call_id = excluded.call_id, model = excluded.model, response_id = excluded.response_id, answer = excluded.answer,
         input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, cost_micros = excluded.cost_micros, refused = excluded.refused, reason = excluded.reason, kept_at = excluded.kept_at
   where a.call_id <> excluded.call_id;
  if not found and not exists (select from millrace.paid_answer a where a.call_id = p_call_id and a.question_sha256 = decode(p_answer ->> 'question_sha256', 'hex')) then
    raise exception 'the file of job % does not exist any more', p_job_id using errcode = 'MR039';
  end if;
  perform millrace.end_call(p_call_id, p_end);
end;
$$;
