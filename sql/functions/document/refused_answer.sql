-- millrace.refused_answer: an answer that could not be used, as callers see it: why, who gave it, and how it begins.
create or replace function millrace.refused_answer(p_answer millrace.paid_answer) returns jsonb
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('stage', p_answer.stage, 'error_type', p_answer.refused, 'reason', p_answer.reason, 'model', p_answer.model, 'call_id', p_answer.call_id, 'response_id', p_answer.response_id,
    'answer', left(p_answer.answer, 4000), 'answer_sha256', encode(sha256(convert_to(p_answer.answer, 'UTF8')), 'hex'), 'at', p_answer.kept_at)
$$;
