-- millrace.note_deaths: worker processes were found dead; their leases are still there. Old notes go.
create or replace function millrace.note_deaths(p_processes uuid[]) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(cardinality(p_processes), 0) = 0 then
    return;
  end if;
  insert into millrace.process_death (at, alone)
  select millrace.now(), exists (select from millrace.lease l where l.process = p and l.alone) from unnest(p_processes) p;
  delete from millrace.process_death p where p.at < millrace.now() - interval '1 minute';
end;
$$;
