-- millrace.upload_size_max: how many bytes an upload to this bucket may have: the installation's limit, or the bucket's own where that is less.
create or replace function millrace.upload_size_max(p_bucket text) returns bigint
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return least(millrace.config_bigint('upload.size_max_bytes', 5368709120),
               (select b.file_size_limit from millrace.storage_bucket b where b.bucket = p_bucket));
end;
$$;
