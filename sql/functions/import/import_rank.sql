-- millrace.import_rank: a priority of a source, whose usual one is 0, on our scale: p_base stands for 0, more is sooner.
create or replace function millrace.import_rank(p_base integer, p_more bigint) returns integer
  language sql immutable parallel safe
  return least(greatest(coalesce(p_base, 100) + coalesce(p_more, 0), 0), 1000)::integer;
