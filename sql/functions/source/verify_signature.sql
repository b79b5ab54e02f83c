-- millrace.verify_signature: whether a signature is the hexadecimal HMAC-SHA256 of these very bytes (W-02, W-03). Hashes are compared, so that the time it takes tells nothing of the right one. Nothing that is null, and no empty
-- secret, verifies.
create or replace function millrace.verify_signature(p_payload bytea, p_signature text, p_secret text) returns boolean
  language sql immutable parallel safe security definer set search_path = pg_catalog, pg_temp
as $$
  select coalesce(p_secret <> '' and sha256(convert_to(p_signature, 'UTF8')) = sha256(convert_to(encode(millrace.hmac_sha256(convert_to(p_secret, 'UTF8'), p_payload), 'hex'), 'UTF8')), false)
$$;
