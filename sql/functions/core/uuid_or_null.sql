-- millrace.uuid_or_null: text as uuid, or null where it is none.
create or replace function millrace.uuid_or_null(p_text text) returns uuid
  language sql immutable parallel safe
  return case when p_text ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then p_text::uuid end;
