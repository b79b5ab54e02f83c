-- millrace.check_bucket: the limits of a bucket, as far as what is announced tells.
create or replace function millrace.check_bucket(p_bucket text, p_size bigint, p_type text) returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_bucket millrace.storage_bucket;
begin
  select b.* into v_bucket from millrace.storage_bucket b where b.bucket = p_bucket;
  if p_size > v_bucket.file_size_limit then
    raise exception 'an object of bucket % may have % bytes at most', quote_literal(p_bucket), v_bucket.file_size_limit using errcode = 'MR038';
  end if;
  if p_type is not null and not split_part(p_type, ';', 1) = any (v_bucket.allowed_mime_types) then
    raise exception 'bucket % does not take content of type %', quote_literal(p_bucket), quote_literal(p_type) using errcode = 'MR024';
  end if;
end;
$$;
