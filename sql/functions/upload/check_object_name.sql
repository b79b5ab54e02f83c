-- millrace.check_object_name: refuses a bucket that does not exist, a name that no object may have, and a user's name outside the own folder (T-04).
create or replace function millrace.check_object_name(p_bucket text, p_name text, p_user uuid) returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from millrace.storage_bucket b where b.bucket = p_bucket) then
    raise exception 'bucket % does not exist', quote_literal(p_bucket) using errcode = 'MR031';
  end if;
  if coalesce(p_name, '') !~ '^[A-Za-z0-9_/!.*''() &$=@;:+,?-]+$' or octet_length(p_name) > 1024 or p_name ~ '(^|/)(\.{0,2})(/|$)' then
    raise exception 'the name of an object must have 1 to 1024 letters, digits or _ / ! . * '' ( ) & $ = @ ; : + , ? - and no empty folder'
      using errcode = 'MR024';
  end if;
  if p_user is not null and split_part(p_name, '/', 1) <> p_user::text then
    raise exception 'the name of an object must begin with the id of its user' using errcode = '42501';
  end if;
end;
$$;
