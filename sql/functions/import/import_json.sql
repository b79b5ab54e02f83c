-- millrace.import_json: text of a column of type json as jsonb, or null where jsonb cannot hold it (a NUL in a text, a number beyond all bounds):
-- one such row must not stop the others.
create or replace function millrace.import_json(p_text text) returns jsonb
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return p_text::jsonb;
exception when data_exception or program_limit_exceeded then
  return null;
end;
$$;
