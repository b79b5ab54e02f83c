-- millrace.vector_signature: the signs of a vector's components, one bit each, 1 for what is above zero. Vectors at a small angle differ in few bits, and bits are counted
-- without reading the vectors (bit_count of the two, xor). What is no number counts as not above zero.
create or replace function millrace.vector_signature(p_vector real[]) returns bit varying
  language sql immutable strict parallel safe set search_path = pg_catalog, pg_temp
return (select coalesce(string_agg(case when v.value > 0 and v.value < 'infinity' then '1' else '0' end, '' order by v.place), '')::bit varying
          from unnest(p_vector) with ordinality v(value, place));
