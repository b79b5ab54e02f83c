-- The clock of tests: millrace.now() that a test can shift or stop. Never installed in production.
create table if not exists millrace.test_clock (
  only_row  boolean primary key default true,
  shift     interval not null default interval '0',
  -- Set: the clock stands still at this instant (plus shift).
  frozen_at timestamptz,
  constraint test_clock_one_row_check check (only_row)
);
insert into millrace.test_clock default values on conflict do nothing;
grant select on millrace.test_clock to public;

create or replace function millrace.now() returns timestamptz
  language sql volatile parallel safe security definer set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select coalesce(c.frozen_at, clock_timestamp()) + c.shift
                   from millrace.test_clock c),
                  clock_timestamp())
$$;
