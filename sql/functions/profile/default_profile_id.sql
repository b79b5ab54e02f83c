-- millrace.default_profile_id: the profile that stands for a user's own person: always the same for one user of one tenant.
create or replace function millrace.default_profile_id(p_tenant uuid, p_owner uuid) returns uuid
  language sql immutable parallel safe
  return encode(set_bit(set_bit(set_bit(set_bit(set_bit(set_bit(
    substring(sha256('millrace.profile.v1'::bytea || uuid_send(p_tenant) || uuid_send(p_owner)) from 1 for 16),
    55, 1), 54, 0), 53, 0), 52, 0), 71, 1), 70, 0), 'hex')::uuid;
