-- millrace.name_id: the id that a name has: UUID version 5 in the namespace of the BaseWorker RFC (B-09), ASCII letters lowered. The same as chunk::name_id in C++.
create or replace function millrace.name_id(p_name text) returns uuid
  language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_hash bytea := millrace.sha1('\x6c8a1e6e1f0b4aa89f0a1a7c2e6f2b42'::bytea || convert_to(lower(p_name collate "C"), 'UTF8'));
begin
  v_hash := set_byte(v_hash, 6, (get_byte(v_hash, 6) & 15) | 80);
  v_hash := set_byte(v_hash, 8, (get_byte(v_hash, 8) & 63) | 128);
  return encode(substr(v_hash, 1, 16), 'hex')::uuid;
end;
$$;
