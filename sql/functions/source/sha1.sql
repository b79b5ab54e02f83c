-- millrace.sha1: SHA-1 of some bytes, for names only (millrace.name_id): PostgreSQL has none of its own, and the source's ids are made with it. Not for anything that must be safe.
create or replace function millrace.sha1(p_bytes bytea) returns bytea
  language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_mask constant bigint := 4294967295;
  -- A one, zeros up to eight bytes before the end of a block, and the length in bits.
  v_message bytea := p_bytes || '\x80'::bytea || decode(repeat('00', (119 - length(p_bytes) % 64) % 64), 'hex') || int8send(length(p_bytes)::bigint * 8);
  v_state bigint[] := array[1732584193, 4023233417, 2562383102, 271733878, 3285377520];
  v_words bigint[];
  v_word bigint;
  v_mix bigint;
  v_a bigint;
  v_b bigint;
  v_c bigint;
  v_d bigint;
  v_e bigint;
begin
  for v_block in 0 .. length(v_message) / 64 - 1 loop
    v_words := null;
    for v_t in 0 .. 15 loop
      v_words[v_t] := ('x' || encode(substr(v_message, v_block * 64 + v_t * 4 + 1, 4), 'hex'))::bit(32)::bigint;
    end loop;
    for v_t in 16 .. 79 loop
      v_word := v_words[v_t - 3] # v_words[v_t - 8] # v_words[v_t - 14] # v_words[v_t - 16];
      v_words[v_t] := ((v_word << 1) | (v_word >> 31)) & v_mask;
    end loop;
    v_a := v_state[1]; v_b := v_state[2]; v_c := v_state[3]; v_d := v_state[4]; v_e := v_state[5];
    for v_t in 0 .. 79 loop
      v_mix := case when v_t < 20 then ((v_b & v_c) | ((v_b # v_mask) & v_d)) + 1518500249 when v_t < 40 then ((v_b # v_c) # v_d) + 1859775393
                    when v_t < 60 then ((v_b & v_c) | (v_b & v_d) | (v_c & v_d)) + 2400959708 else ((v_b # v_c) # v_d) + 3395469782 end;
      v_word := ((((v_a << 5) | (v_a >> 27)) & v_mask) + v_mix + v_e + v_words[v_t]) & v_mask;
      v_e := v_d; v_d := v_c; v_c := ((v_b << 30) | (v_b >> 2)) & v_mask; v_b := v_a; v_a := v_word;
    end loop;
    v_state := array[(v_state[1] + v_a) & v_mask, (v_state[2] + v_b) & v_mask, (v_state[3] + v_c) & v_mask, (v_state[4] + v_d) & v_mask, (v_state[5] + v_e) & v_mask];
  end loop;
  return decode((select string_agg(lpad(to_hex(s.part), 8, '0'), '' order by s.n) from unnest(v_state) with ordinality s(part, n)), 'hex');
end;
$$;
