-- millrace.refuse_change: trigger; audit rows, facts, attempts and finished jobs never change. Of a finished job only
-- redriven_at may be written. Retention may delete, and says so by the setting millrace.retention in its transaction;
-- the setting alone gives nobody the privilege to.
create or replace function millrace.refuse_change() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'DELETE' and current_setting('millrace.retention', true) = 'on' then
    return old;
  end if;
  raise exception '% of % is refused: its rows never change', lower(tg_op), tg_argv[0]
    using errcode = 'MR022', hint = 'a redrive starts a new generation of a finished job';
end;
$$;
