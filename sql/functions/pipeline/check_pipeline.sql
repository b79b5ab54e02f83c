-- millrace.check_pipeline: MR024 where no file can be sent into a pipeline of this name: no worker has registered it.
create or replace function millrace.check_pipeline(p_name text) returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if millrace.first_job(p_name) is null then
    raise exception 'pipeline must be one that a worker has: %', (
      select string_agg(n, ', ' order by n) from (select 'guardian' union select 'ingest' union (select p.name from millrace.pipeline p order by p.name limit 50)) k(n))
      using errcode = 'MR024';
  end if;
end;
$$;
