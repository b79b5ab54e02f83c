-- millrace.settle_remote: millrace.settle_jobs for a process that reaches the engine over HTTP. Its output may have no artifacts: whoever may say which
-- content was stored could have all content handed out, so that is the server's to say.
create or replace function millrace.settle_remote(p_worker_id text, p_settlements jsonb) returns table (job_id uuid, answer text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  if jsonb_path_exists(p_settlements, '$[*].effects.output.artifacts') then
    raise exception 'effects.output.artifacts cannot be given by a remote worker' using errcode = 'MR016', hint = 'upload it as an object';
  end if;
  return query select s.job_id, s.answer from millrace.settle_jobs(p_worker_id, p_settlements) s;
end;
$$;
