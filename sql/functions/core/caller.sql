-- millrace.caller: the role a person or component acts as. Inside security definer functions current_user is the owner,
-- so the role set by SET ROLE (PostgREST, poolers) or the login role is what counts.
create or replace function millrace.caller() returns text
  language sql stable parallel safe return coalesce(nullif(nullif(current_setting('role', true), 'none'), ''), session_user::text);
