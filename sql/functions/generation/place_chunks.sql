-- millrace.place_chunks: millrace.place_batch for the stage that publishes, before it is settled; fenced by the lease. In a transaction of its own for each batch: a death costs the one in work.
create or replace function millrace.place_chunks(p_job_id uuid, p_token uuid, p_generation_id uuid, p_limit integer default 2000) returns integer
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  perform millrace.hold_generation(p_job_id, p_token, p_generation_id);
  return millrace.place_batch(p_generation_id, least(greatest(coalesce(p_limit, 2000), 1), 10000));
end;
$$;
