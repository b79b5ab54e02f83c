-- millrace.jwt_claims: claims of the request, or null. A setting that was SET LOCAL in an earlier transaction of a pooled
-- connection reads as '', and a malformed one must not open anything: both give null.
create or replace function millrace.jwt_claims() returns jsonb
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_text text := nullif(current_setting('request.jwt.claims', true), '');
begin
  if v_text is null then
    return null;
  end if;
  begin
    return v_text::jsonb;
  exception when invalid_text_representation then
    return null;
  end;
end;
$$;
