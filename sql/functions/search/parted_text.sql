-- millrace.parted_text: a text with blanks for the signs that words are joined by, each for one, so that letters and bytes stay at their places.
-- The parser of PostgreSQL takes refunds/exchanges for a file, policy.Employees for a host, name@example.com for an address, and drops <Customer> as a tag: none would be found by its words. A row of
-- hyphens or underscores costs it a time that grows with its square (a minute for 128 KiB). A point within a number, a version or a date stays: 2.50 is not 2 and 50.
create or replace function millrace.parted_text(p_text text) returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return regexp_replace(translate(p_text, '-_/\<>@+:&', '          '), '\.(?=[[:alpha:]])|(?<![0-9])\.(?=[0-9])', ' ', 'g');
