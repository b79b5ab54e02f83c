-- millrace.redact: JSON on its way into errors, without what documents say (T-09): members called text, embedding, vector or content become
-- "[REDACTED - N chars]" at any depth, and so does everything below p_depth levels. What was replaced before stays as it is.
create or replace function millrace.redact(p_value jsonb, p_depth integer default 64) returns jsonb
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  if p_value is null or p_value::text !~ '"(text|embedding|vector|content)"' then
    return p_value;
  elsif p_depth = 0 then
    return to_jsonb('[REDACTED - ' || length(p_value::text) || ' chars]');
  elsif jsonb_typeof(p_value) = 'object' then
    return (
      select jsonb_object_agg(m.key, case when m.key not in ('text', 'embedding', 'vector', 'content') then millrace.redact(m.value, p_depth - 1)
                                          when jsonb_typeof(m.value) = 'null' or p_value ->> m.key ~ '^\[REDACTED - [0-9]+ chars\]$' then m.value
                                          else to_jsonb('[REDACTED - ' || length(p_value ->> m.key) || ' chars]') end)
        from jsonb_each(p_value) m);
  elsif jsonb_typeof(p_value) = 'array' then
    return (select jsonb_agg(millrace.redact(e.value, p_depth - 1) order by e.n) from jsonb_array_elements(p_value) with ordinality e(value, n));
  end if;
  return p_value;
end;
$$;
