-- millrace.parse_time: text of a request as timestamptz. A time without zone would mean something else on every server, so the
-- zone is required; infinity is refused.
create or replace function millrace.parse_time(p_text text, p_field text) returns timestamptz
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_text is null then
    return null;
  end if;
  if p_text !~ '^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?\s*(Z|z|[+-]\d{2}(:?\d{2})?)$' then
    raise exception '% must be an ISO 8601 time with a zone, such as 2030-01-31T09:30:00Z', p_field using errcode = 'MR006';
  end if;
  return p_text::timestamptz;
exception when datetime_field_overflow or invalid_datetime_format then
  raise exception '% is not a valid time', p_field using errcode = 'MR006';
end;
$$;
