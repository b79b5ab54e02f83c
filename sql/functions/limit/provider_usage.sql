-- millrace.provider_usage: what was granted in the two windows that end at p_at. A window is the
-- sub-bucket of p_at and the 60 before it: every grant of the last window lies in them, wherever
-- p_at falls, so a sum within the limit keeps every sliding window within the limit (E01). There is
-- no upper bound: a bucket that begins later (clock set back) counts as well.
-- The oldest buckets are those that still count; stale says that older ones can be deleted.
create or replace function millrace.provider_usage(
    p_provider_id integer, p_at timestamptz, p_minute interval, p_hour interval,
    out requests_minute bigint, out tokens_minute bigint, out oldest_minute bigint,
    out requests_hour bigint, out tokens_hour bigint, out oldest_hour bigint, out stale boolean)
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_minute bigint := millrace.bucket_at(p_at, p_minute) - 60;
  v_hour bigint := millrace.bucket_at(p_at, p_hour) - 60;
begin
  select coalesce(sum(b.requests) filter (where w.minute), 0),
         coalesce(sum(b.tokens) filter (where w.minute), 0),
         min(b.bucket) filter (where w.minute),
         coalesce(sum(b.requests) filter (where w.hour), 0),
         coalesce(sum(b.tokens) filter (where w.hour), 0),
         min(b.bucket) filter (where w.hour),
         coalesce(bool_or(not w.minute and not w.hour), false)
    into requests_minute, tokens_minute, oldest_minute, requests_hour, tokens_hour, oldest_hour,
         stale
    from millrace.provider_bucket b
   cross join lateral (select b.time_window = 'minute' and b.bucket >= v_minute as minute,
                              b.time_window = 'hour' and b.bucket >= v_hour as hour) w
   where b.provider_id = p_provider_id;
end;
$$;
