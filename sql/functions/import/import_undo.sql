-- millrace.import_undo: moves up to p_limit jobs back to the source they came from, in one transaction that is the caller's; see
-- millrace.release_imports for which. Answers a row per job, none when nothing can go back (any more). Writes the source with the rights of
-- the caller.
create or replace function millrace.import_undo(p_source text, p_schema text, p_limit integer default 1000)
  returns setof millrace.import_answer language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows millrace.imported_job[];
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception 'p_limit must be between 1 and 1000' using errcode = 'MR024';
  end if;
  v_rows := array(select row(r.*)::millrace.imported_job from millrace.release_imports(p_source, p_schema, p_limit) r);
  if cardinality(v_rows) = 0 then
    return;
  end if;
  if millrace.import_restore(p_source, p_schema, v_rows) <> cardinality(v_rows) then
    raise exception 'jobs of % were changed or removed there since they were moved', p_source
      using errcode = 'MR024', hint = 'nothing was moved back';
  end if;
  return query select r.source_type, r.source_id, r.source_created_at, null::text, r.job_id, null::text from unnest(v_rows) r;
end;
$$;
