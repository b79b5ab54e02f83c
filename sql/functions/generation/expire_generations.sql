-- millrace.expire_generations: removes what was built and never published, of documents that nobody works on, and the records of what was superseded, after retention.generation_days (B-23).
-- Answers how many.
create or replace function millrace.expire_generations(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_before timestamptz := millrace.now() - make_interval(days => millrace.config_integer('retention.generation_days', 7));
  v_count integer;
begin
  delete from millrace.generation g
   where g.generation_id in (
     select x.generation_id from millrace.generation x join millrace.document d on d.file_id = x.file_id
      where x.state <> 'published' and x.created_at < v_before and (x.state = 'superseded' or d.state <> 'processing')
      order by x.created_at limit p_limit for update of x skip locked);
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
