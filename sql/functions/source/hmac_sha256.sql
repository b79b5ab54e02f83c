-- millrace.hmac_sha256: HMAC-SHA256 (RFC 2104) of a message.
create or replace function millrace.hmac_sha256(p_key bytea, p_message bytea) returns bytea
  language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea := case when length(p_key) > 64 then sha256(p_key) else p_key end;
  v_inner bytea := decode(repeat('36', 64), 'hex');
  v_outer bytea := decode(repeat('5c', 64), 'hex');
begin
  for v_i in 0 .. length(v_key) - 1 loop
    v_inner := set_byte(v_inner, v_i, get_byte(v_key, v_i) # 54);
    v_outer := set_byte(v_outer, v_i, get_byte(v_key, v_i) # 92);
  end loop;
  return sha256(v_outer || sha256(v_inner || p_message));
end;
$$;
