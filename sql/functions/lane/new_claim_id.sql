-- millrace.new_claim_id: the id of a claim of p_jobs jobs: random, marked as a uuid of version 8; the number of jobs in the two bytes before
-- the last two, which are zero and become the position in the tokens of its jobs.
create or replace function millrace.new_claim_id(p_jobs integer) returns uuid
  language plpgsql volatile parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := gen_random_uuid();
begin
  return left(v_id, 14) || '8' || substr(v_id, 16, 13) || lpad(to_hex(p_jobs), 4, '0') || '0000';
end;
$$;
