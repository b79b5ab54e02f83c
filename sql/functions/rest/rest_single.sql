-- millrace.rest_single: who wants one row must get one, or nothing has happened: called in the statement that writes, it takes the whole transaction back. The
-- code is PostgREST's for a status of one's own.
create or replace function millrace.rest_single(p_rows bigint) returns boolean
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  if p_rows <> 1 then
    raise exception 'the result is not a single row' using errcode = 'PT406', detail = format('The result contains %s rows', p_rows);
  end if;
  return true;
end;
$$;
