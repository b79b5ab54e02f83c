-- millrace.end_question: what became of a call of millrace.begin_question: its slot and the tokens that it did not take are free, money is settled as by millrace.end_call (p_end likewise; retry_ms besides: the service asks everybody
-- to wait that long). Said twice, the first word counts.
create or replace function millrace.end_question(p_call_id uuid, p_end jsonb) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_call millrace.provider_call;
  v_endpoint text;
begin
  select c.* into v_call from millrace.provider_call c where c.call_id = p_call_id and c.job_id is null and c.state = 'sent' for update;
  if not found then
    return;
  end if;
  v_endpoint := substr(v_call.provider, strpos(v_call.provider, ':') + 1);
  -- Limits before money, as everywhere (docs/architecture.md).
  perform millrace.release_api_capacity(millrace.payee(v_call.provider), v_endpoint, v_call.estimated_tokens::integer,
    ((p_end ->> 'input_tokens')::bigint + coalesce((p_end ->> 'output_tokens')::bigint, 0))::integer);
  perform millrace.hold_provider(v_call.provider, (p_end ->> 'retry_ms')::double precision);
  perform millrace.end_call(p_call_id, p_end);
end;
$$;
