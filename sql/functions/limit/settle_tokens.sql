-- millrace.settle_tokens: moves a charge from estimate to actual figure, in the sub-buckets that
-- were charged and only while they still exist (E08), never below zero. The caller holds the
-- provider row.
create or replace function millrace.settle_tokens(
    p_provider_id integer, p_minute_bucket bigint, p_hour_bucket bigint, p_estimate bigint,
    p_actual bigint)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  -- greatest() ignores nulls, an unknown figure must not become 0.
  v_delta bigint := case when p_actual < 0 then 0 else p_actual end - p_estimate;
begin
  if v_delta is null or v_delta = 0 then
    return;
  end if;
  update millrace.provider_bucket b
     set tokens = greatest(b.tokens + v_delta, 0)
   where b.provider_id = p_provider_id
     and (b.time_window, b.bucket) in (('minute', p_minute_bucket), ('hour', p_hour_bucket));
end;
$$;
