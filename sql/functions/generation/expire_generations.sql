-- millrace.expire_generations: removes the rows of what was replaced, which nobody sees any more, ten thousand a call; and, after retention.generation_days, what was built and never published, of
-- documents that nobody works on, and the records of what was superseded (B-23). Answers how many generations it removed something of.
create or replace function millrace.expire_generations(p_limit integer) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  v_before timestamptz := millrace.now() - make_interval(days => millrace.config_integer('retention.generation_days', 7));
  v_rows_left integer := 10000;
  v_cleared integer := 0;
  v_count integer;
  v_id uuid;
begin
  for v_id in
    select x.generation_id from millrace.generation x join millrace.document d on d.file_id = x.file_id
     where x.state <> 'published' and x.chunks_placed > 0 and (x.state = 'superseded' or (d.state <> 'processing' and x.created_at < v_before))
     order by x.created_at limit p_limit for update of x skip locked
  loop
    exit when v_rows_left <= 0;
    v_rows_left := v_rows_left - millrace.clear_generation(v_id, v_rows_left);
    v_cleared := v_cleared + 1;
  end loop;
  delete from millrace.generation g
   where g.generation_id in (
     select x.generation_id from millrace.generation x join millrace.document d on d.file_id = x.file_id
      where x.state <> 'published' and x.chunks_placed = 0 and x.created_at < v_before and (x.state = 'superseded' or d.state <> 'processing')
      order by x.created_at limit p_limit for update of x skip locked);
  get diagnostics v_count = row_count;
  return v_cleared + v_count;
end;
$$;
