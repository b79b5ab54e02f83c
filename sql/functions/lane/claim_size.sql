-- millrace.claim_size: the number of jobs of a claim.
create or replace function millrace.claim_size(p_claim_id uuid) returns integer
  language sql immutable parallel safe return get_byte(uuid_send(p_claim_id), 12) * 256 + get_byte(uuid_send(p_claim_id), 13);
