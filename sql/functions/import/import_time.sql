-- millrace.import_time: a time that a source keeps as text, in UTC where it names no zone; null where it is none.
create or replace function millrace.import_time(p_text text) returns timestamptz
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp set timezone = 'UTC'
as $$
begin
  return p_text::timestamptz;
exception when data_exception then
  return null;
end;
$$;
