-- millrace.imports_overview: jobs that were moved over from a source, by their type there and where they are now: what waits and was never delivered can
-- be moved back.
create or replace function millrace.imports_overview(p_source text, p_schema text)
  returns table (source_type text, place text, jobs bigint) language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_scope uuid := millrace.tenant_scope();
begin
  return query
  select i.source_type, w.place, count(*)
    from millrace.imported_job i
    left join millrace.ready r on r.job_id = i.job_id
    left join millrace.delayed d on d.job_id = i.job_id
    left join millrace.lease l on l.job_id = i.job_id
    cross join lateral (select case when coalesce(r.delivery_count, d.delivery_count) = 0 then 'waiting' when l.job_id is not null then 'running'
                                    when r.job_id is not null or d.job_id is not null then 'tried' else 'ended' end as place) w
   where i.source = p_source and i.source_schema = p_schema and (v_scope is null or i.tenant_id = v_scope)
   group by i.source_type, w.place order by i.source_type, w.place;
end;
$$;
