-- millrace.vector_cosine: the cosine of the angle between two vectors; p_length is the length of the second one, which is compared with many. 0 for a vector of zeros.
create or replace function millrace.vector_cosine(p_vector real[], p_other real[], p_length double precision) returns double precision
  language sql immutable parallel safe
  return (select coalesce(sum(u.a * u.b) / nullif(sqrt(sum(u.a * u.a)) * p_length, 0), 0) from unnest(p_vector, p_other) u(a, b));
