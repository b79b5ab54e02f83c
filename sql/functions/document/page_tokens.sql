-- millrace.page_tokens: what a question about a page may cost a model at most, for the limiter, which settles it to the true figure: what the plan says besides, and the
-- bytes of the page's text, eight a word at least (E13): no token is less than a byte, whatever stands between words.
-- Never more than half of what the provider grants in a window: such a job could not be enqueued. Null for a stage that asks nobody.
create or replace function millrace.page_tokens(p_file_id uuid, p_page integer, p_stage text, p_plan jsonb) returns bigint
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case when p_plan ? 'tokens' then greatest(1, least(
    (p_plan ->> 'tokens')::bigint + coalesce((
      select max(greatest(case when jsonb_typeof(r.meta -> 'words') = 'number' then 8 * (r.meta ->> 'words')::numeric end,
                          case when jsonb_typeof(r.meta -> 'text_bytes') = 'number' then (r.meta ->> 'text_bytes')::numeric end))::bigint
        from millrace.page_result r where r.file_id = p_file_id and r.page = p_page), 0),
    (select millrace.token_limit(a.provider_id) / 2 from millrace.job_type t
       join millrace.api_rate_limits a on a.provider_name = t.provider_name and a.api_endpoint = t.api_endpoint where t.job_type = p_stage))) end
$$;
