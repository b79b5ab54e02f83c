-- millrace.keep_a_little: the keeper's most urgent duties in small bites, for use from SQL alone where no keeper runs.
create or replace function millrace.keep_a_little() returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform millrace.reclaim(100);
  perform millrace.promote_due(100);
  perform millrace.advance(100);
  perform millrace.fold_counters();
end;
$$;
