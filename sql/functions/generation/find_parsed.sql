-- millrace.find_parsed: the parse that an imported job brought along (parsed_path), if its content is stored here, in the tenant of the job: sha256, size_bytes, store_key; else null. For workers.
create or replace function millrace.find_parsed(p_job_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return (
    select jsonb_build_object('sha256', encode(o.sha256, 'hex'), 'size_bytes', o.size_bytes, 'store_key', b.store_key)
      from millrace.job_fact j
      join millrace.storage_object o on o.tenant_id = j.tenant_id and o.name = regexp_replace(j.payload ->> 'parsed_path', '^storage://', '') and (o.owner_id is null or o.owner_id = j.owner_id)
      join millrace.blob_object b on b.tenant_id = o.tenant_id and b.sha256 = o.sha256
     where j.job_id = p_job_id order by o.created_at desc limit 1);
end;
$$;
