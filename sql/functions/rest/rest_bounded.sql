-- millrace.rest_bounded: the rows that a write through tables is about, when they are not too many for one transaction. The list comes with one more than are allowed
-- at most, so what it costs to refuse is bounded too.
create or replace function millrace.rest_bounded(p_list text[], p_most integer) returns text[]
  language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(p_list) > p_most then
    raise exception 'more than % rows match', p_most using errcode = 'PT400', hint = 'change them in parts, by limit and order or by narrower filters';
  end if;
  return p_list;
end;
$$;
