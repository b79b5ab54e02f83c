-- millrace.give_capacity: what millrace.take_capacity took in this very transaction for a call that is not made after all: its request and its tokens. The slot stays, until the job is settled. The provider row is
-- locked since it was taken.
create or replace function millrace.give_capacity(p_capacity jsonb) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_provider integer := (p_capacity ->> 'provider_id')::integer;
begin
  update millrace.provider_bucket b
     set requests = greatest(0, b.requests - (p_capacity ->> 'requests')::bigint), tokens = greatest(0, b.tokens - (p_capacity ->> 'tokens')::bigint)
   where b.provider_id = v_provider
     and (b.time_window, b.bucket) in (('minute', (p_capacity ->> 'minute_bucket')::bigint), ('hour', (p_capacity ->> 'hour_bucket')::bigint));
  perform millrace.show_capacity(v_provider, millrace.now(), false);
end;
$$;
