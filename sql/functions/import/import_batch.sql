-- millrace.import_batch: moves up to p_limit live jobs of a source: holds their rows, enqueues them, marks the rows, in one transaction that is the
-- caller's. So a job is either still in its source or here, whenever somebody dies; a worker of the source that looks at the same
-- moment passes over what is held here, and what it holds is passed over here. Answers a row per job: the job it became, or why it was
-- left alone; none when nothing is left to be moved. p_skip: ids that were left alone before; p_skip_types: the source's types to leave
-- alone. Reads and writes the source with the rights of the caller.
create or replace function millrace.import_batch(
    p_source text, p_schema text, p_limit integer default 1000, p_map jsonb default '{}', p_skip text[] default '{}', p_skip_types text[] default '{}')
  returns setof millrace.import_answer language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows millrace.import_row[];
  v_answers millrace.import_answer[];
  v_moved millrace.import_answer[];
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception 'p_limit must be between 1 and 1000' using errcode = 'MR024';
  end if;
  v_rows := array(select row(r.*)::millrace.import_row from millrace.import_read(p_source, p_schema, p_map, p_limit, p_skip, p_skip_types) r);
  if cardinality(v_rows) = 0 then
    return;
  end if;
  v_answers := array(select row(a.*)::millrace.import_answer from millrace.accept_imports(p_source, p_schema, v_rows, p_map) a);
  v_moved := array(select row(a.*)::millrace.import_answer from unnest(v_answers) a where a.job_id is not null);
  if cardinality(v_moved) > 0 and millrace.import_cross_off(p_source, p_schema, p_map, v_moved) <> cardinality(v_moved) then
    raise exception 'a job of % changed while it was held', p_source using errcode = '40001', hint = 'repeat the transaction';
  end if;
  return query select a.* from unnest(v_answers) a;
end;
$$;
