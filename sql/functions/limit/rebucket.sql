-- millrace.rebucket: renumbers the sub-buckets of a window whose length changes, so that what was
-- granted keeps counting. A bucket goes where its last instant falls: it never leaves the new
-- window too early. The caller holds the provider row.
create or replace function millrace.rebucket(p_provider_id integer, p_window text, p_old interval,
                                             p_new interval)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_old bigint := millrace.bucket_length(p_old);
  v_new bigint := millrace.bucket_length(p_new);
  v_buckets bigint[];
  v_requests bigint[];
  v_tokens bigint[];
begin
  if v_old = v_new then
    return;
  end if;
  select array_agg(m.bucket), array_agg(m.requests), array_agg(m.tokens)
    into v_buckets, v_requests, v_tokens
    from (select ((b.bucket + 1) * v_old - 1) / v_new as bucket,
                 sum(b.requests)::bigint as requests, sum(b.tokens)::bigint as tokens
            from millrace.provider_bucket b
           where b.provider_id = p_provider_id and b.time_window = p_window
           group by 1) m;
  delete from millrace.provider_bucket b
   where b.provider_id = p_provider_id and b.time_window = p_window;
  insert into millrace.provider_bucket (provider_id, time_window, bucket, requests, tokens)
  select p_provider_id, p_window, m.bucket, m.requests, m.tokens
    from unnest(v_buckets, v_requests, v_tokens) m(bucket, requests, tokens);
  update millrace.provider_slot s
     set minute_bucket = case p_window when 'hour' then s.minute_bucket
                                       else ((s.minute_bucket + 1) * v_old - 1) / v_new end,
         hour_bucket = case p_window when 'minute' then s.hour_bucket
                                     else ((s.hour_bucket + 1) * v_old - 1) / v_new end
   where s.provider_id = p_provider_id;
end;
$$;
