-- millrace.search_configs: the configurations that words of a tenant's chunks are counted in: a question is read in each. One step of the index for each, whatever the number of chunks.
create or replace function millrace.search_configs(p_tenant_id uuid) returns text[]
  language sql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
  with recursive step as (
    (select c.config from millrace.document_chunks c where c.tenant_id = p_tenant_id order by c.config limit 1)
    union all
    select (select c.config from millrace.document_chunks c where c.tenant_id = p_tenant_id and c.config > s.config order by c.config limit 1) from step s where s.config is not null)
  select coalesce(array_agg(s.config), '{}') from step s where s.config is not null;
$$;
