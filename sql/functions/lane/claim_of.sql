-- millrace.claim_of: the claim that a token belongs to; null for the token of a lease of its own.
create or replace function millrace.claim_of(p_token uuid) returns uuid
  language sql immutable parallel safe return case when substr(p_token::text, 15, 1) = '8' then (left(p_token::text, 32) || '0000')::uuid end;
