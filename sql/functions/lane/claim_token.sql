-- millrace.claim_token: the token of the job at a position (from 0) of a claim.
create or replace function millrace.claim_token(p_claim_id uuid, p_position integer) returns uuid
  language sql immutable parallel safe return (left(p_claim_id::text, 32) || lpad(to_hex(p_position), 4, '0'))::uuid;
