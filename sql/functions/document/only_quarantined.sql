-- millrace.only_quarantined: whether a file was refused for no other reason than that its content is in quarantine: nobody has looked at it.
create or replace function millrace.only_quarantined(p_findings jsonb) returns boolean
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
  select coalesce(bool_and(i ->> 'rule' = 'quarantined'), false) from jsonb_array_elements(p_findings) i where i ->> 'severity' = 'refuse'
$$;
