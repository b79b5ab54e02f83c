-- millrace.with_outcome: the same row with an outcome, an error and a due time.
create or replace function millrace.with_outcome(p_row millrace.moving, p_outcome text, p_error jsonb, p_until timestamptz) returns millrace.moving
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  p_row.outcome := p_outcome;
  p_row.error := p_error;
  p_row.until_at := p_until;
  return p_row;
end;
$$;
