-- millrace.kept_answers: what was paid for already about the page of a job (or about the whole document) in its stage, whoever asked. What could not be used is told to the job that asked only, until it is begun anew:
-- then it may be asked again.
create or replace function millrace.kept_answers(p_job_id uuid, p_generation integer)
  returns table (question_sha256 text, call_id uuid, model text, response_id text, answer text, input_tokens bigint, output_tokens bigint, cost_micros bigint, refused text, reason text)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return query
  select encode(a.question_sha256, 'hex'), a.call_id, a.model, a.response_id, a.answer, a.input_tokens, a.output_tokens, a.cost_micros, a.refused, a.reason
    from millrace.job_fact j
    join millrace.job_type t on t.type_id = j.type_id
    join millrace.paid_answer a on a.file_id = millrace.uuid_or_null(j.payload ->> 'shell_file_id') and a.tenant_id = j.tenant_id and a.page = coalesce((j.payload ->> 'page')::integer, 0) and a.stage = t.job_type
   where j.job_id = p_job_id and (a.refused is null or (a.job_id = p_job_id and a.generation = p_generation));
end;
$$;
