-- millrace.refuse_rewrite: trigger; of a finished job nothing but redriven_at ever changes.
create or replace function millrace.refuse_rewrite() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept millrace.job_history := new;
begin
  v_kept.redriven_at := old.redriven_at;
  if v_kept is distinct from old then
    raise exception 'update of job_history is refused: finished jobs never change'
      using errcode = 'MR022', hint = 'a redrive starts a new generation of a finished job';
  end if;
  return new;
end;
$$;
