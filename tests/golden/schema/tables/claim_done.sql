create table millrace.claim_done (
  claim_id uuid not null,
  claimed_at timestamp with time zone not null,
  tenant_id uuid not null,
  at timestamp with time zone not null,
  done bit varying not null
) partition by RANGE (at);  -- row security forced
CREATE INDEX claim_done_idx ON ONLY millrace.claim_done USING btree (claim_id);
CREATE TRIGGER claim_done_immutable BEFORE DELETE OR UPDATE ON millrace.claim_done FOR EACH ROW EXECUTE FUNCTION millrace.refuse_change('claim_done');
