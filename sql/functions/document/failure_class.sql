-- millrace.failure_class: the word of the source (G-06) for what went wrong in a job of a document, by the code of the error and by what the stage does and whom it asks (p_stage: as in
-- millrace.stage_definition; null where it is none). Passes and vectors are the business of models, whoever makes them; of a scan and a parse only what the virus scanner says is not our own.
drop function if exists millrace.error_class(text, text, jsonb);  -- Which it replaces: here, so that whoever called it is changed in the same transaction.
create or replace function millrace.failure_class(p_stage jsonb, p_outcome text, p_error jsonb) returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_outcome = 'lost' then 'worker_timeout'
    when e.code in ('connection', 'connection_lost', 'connect_timeout', 'not_reached', 'no_answer', 'transport') then 'network_error'
    when s.model and e.code = 'timeout' then 'ai_timeout'
    when s.model or s.outside or (s.run in ('scan', 'parse') and e.code in ('scan_timeout', 'scan_error', 'bad_answer')) then 'api_error'
    else 'ocr_failure' end
    from (select p_error ->> 'error_type' as code) e,
         (select p_stage ->> 'run' as run, coalesce(p_stage ->> 'run' in ('detect', 'extract', 'narrate', 'embed') or p_stage ->> 'provider' in ('openai', 'anthropic'), false) as model,
                 coalesce(p_stage ->> 'provider' not in ('none', 'local') or p_stage ->> 'run' ~ '^https?://', false) as outside) s
$$;
