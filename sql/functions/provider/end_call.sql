-- millrace.end_call: what became of a call. What was certainly not charged is given back to the budget; what may have been stays reserved. Said twice, the first word counts.
-- p_end: state (answered, failed, unknown), cost_micros, input_tokens, output_tokens, finish, response_id, error, capacity (of millrace.take_capacity),
-- hold_ms (the service would refuse the next call for so long: see millrace.hold_provider).
create or replace function millrace.end_call(p_call_id uuid, p_end jsonb) returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_call millrace.provider_call;
begin
  update millrace.provider_call c
     set state = p_end ->> 'state', cost_micros = (p_end ->> 'cost_micros')::bigint, input_tokens = (p_end ->> 'input_tokens')::bigint,
         output_tokens = (p_end ->> 'output_tokens')::bigint, finish = left(p_end ->> 'finish', 100), response_id = left(p_end ->> 'response_id', 200),
         error = left(p_end ->> 'error', 500), ended_at = millrace.now()
   where c.call_id = p_call_id and c.state = 'sent' returning c.* into v_call;
  if found and p_end ? 'capacity' and v_call.input_tokens is not null then
    -- Tokens that were taken for this call alone (millrace.take_capacity) become those that it took.
    perform from millrace.api_rate_limits a where a.provider_id = (p_end #>> '{capacity,provider_id}')::integer for no key update;
    perform millrace.settle_tokens((p_end #>> '{capacity,provider_id}')::integer, (p_end #>> '{capacity,minute_bucket}')::bigint, (p_end #>> '{capacity,hour_bucket}')::bigint,
      (p_end #>> '{capacity,tokens}')::bigint,
      -- What the claim took for it besides is settled with the job.
      greatest(0, v_call.input_tokens + coalesce(v_call.output_tokens, 0) - coalesce((p_end #>> '{capacity,claimed}')::bigint, 0)));
  end if;
  if v_call.call_id is not null then
    perform millrace.hold_provider(v_call.provider, (p_end ->> 'hold_ms')::double precision);
  end if;
  if v_call.call_id is not null and v_call.state <> 'unknown' then
    update millrace.provider_spend s
       set reserved_micros = greatest(0, s.reserved_micros - v_call.reserved_micros), spent_micros = s.spent_micros + coalesce(v_call.cost_micros, 0)
     where s.tenant_id = v_call.tenant_id and s.provider = millrace.payee(v_call.provider) and s.day = v_call.day;
  end if;
end;
$$;
