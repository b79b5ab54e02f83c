-- millrace.check_pipeline: MR024 where no file can be sent into a pipeline of this name: no worker has registered it, or it takes orders.
create or replace function millrace.check_pipeline(p_name text) returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from millrace.pipeline p join millrace.pipeline_version v on v.hash = p.hash where p.name = p_name and v.definition ->> 'takes' = 'order') then
    raise exception 'pipeline % takes orders, not files', quote_literal(p_name) using errcode = 'MR024', hint = 'order an export of an export document';
  end if;
  if millrace.first_job(p_name) is null then
    raise exception 'pipeline must be one that a worker has: %', (
      select string_agg(n, ', ' order by n)
        from (select 'guardian' union select 'ingest'
              union (select p.name from millrace.pipeline p join millrace.pipeline_version v on v.hash = p.hash
                      where v.definition ->> 'takes' is distinct from 'order' order by p.name limit 50)) k(n))
      using errcode = 'MR024';
  end if;
end;
$$;
