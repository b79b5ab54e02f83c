-- millrace.settle_or_raise: settle_jobs for one delivery that other statements are to commit with. Anything but 'settled' is an error with
-- the answer as its detail, so that a caller can send it and its own statements in one piece: none of them happens then, and the
-- server never waits for a caller that may be gone while it holds the job's locks.
create or replace function millrace.settle_or_raise(p_worker_id text, p_settlement jsonb) returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_answer text;
begin
  select s.answer into v_answer from millrace.settle_jobs(p_worker_id, p_settlement) s;
  if v_answer is distinct from 'settled' then
    raise exception 'the delivery was not settled as asked: %', v_answer using errcode = 'MR001', detail = v_answer;
  end if;
end;
$$;
