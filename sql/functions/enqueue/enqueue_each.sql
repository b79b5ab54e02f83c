-- millrace.enqueue_each: millrace.enqueue_singles for jobs of which some may be refused: each is enqueued or refused by itself, and all that are taken
-- commit together. Answers a row for each, in order; of one that is refused, the code and the words that it would have got alone. Dearer than
-- enqueue_singles, so for whoever has heard from that one that a job among several is bad. Each job is a text: one that is no JSON harms no other.
create or replace function millrace.enqueue_each(p_jobs text[])
  returns table (ord integer, job_id uuid, answer text, code text, message text, detail text, hint text)
  language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  if cardinality(p_jobs) > 1000 then
    raise exception 'p_jobs must have at most 1000 jobs' using errcode = 'MR024';
  end if;
  for v_ord in 1 .. coalesce(cardinality(p_jobs), 0) loop
    ord := v_ord;
    job_id := null;
    answer := null;
    code := null;
    message := null;
    detail := null;
    hint := null;
    begin
      select e.job_id, e.answer into strict job_id, answer from millrace.enqueue_singles(jsonb_build_array(p_jobs[v_ord]::jsonb)) e;
    exception when others then
      get stacked diagnostics code = returned_sqlstate, message = message_text, detail = pg_exception_detail, hint = pg_exception_hint;
    end;
    return next;
  end loop;
end;
$$;
