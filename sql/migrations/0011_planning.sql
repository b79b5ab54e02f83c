-- Sessions that plan a claim before there is one. Lock cost: none. compat: rolling

-- Made anew with another argument, or with more to say.
drop function if exists millrace.horizon();
drop function if exists millrace.claim_jobs(text, uuid, text, integer, text[], jsonb, boolean, boolean);
