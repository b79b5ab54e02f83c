-- millrace.bind_providers: whose limits the jobs of these types count against, as the pipelines of a worker say: {"ai_queue_pass1": "openai:gpt-4o-mini", "fast_queue_ocr": null}. What is
-- so already is left alone. A provider without a limit row gets the default one. Answers how many changed.
create or replace function millrace.bind_providers(p_bindings jsonb) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_item record;
  v_count integer := 0;
begin
  for v_item in
    select b.key as job_type, b.value as provider, split_part(b.value, ':', 1) as name, substr(b.value, strpos(b.value, ':') + 1) as endpoint
      from jsonb_each_text(p_bindings) b join millrace.job_type t on t.job_type = b.key
     where t.provider_name || ':' || t.api_endpoint is distinct from b.value order by b.key
  loop
    if v_item.provider is not null then
      insert into millrace.api_rate_limits (provider_name, api_endpoint) values (v_item.name, v_item.endpoint) on conflict (provider_name, api_endpoint) do nothing;
    end if;
    perform millrace.set_job_type(v_item.job_type, jsonb_build_object('provider', v_item.provider, 'queue',
      (select q.queue from millrace.job_type t join millrace.queue q on q.queue_id = t.queue_id where t.job_type = v_item.job_type)));
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
