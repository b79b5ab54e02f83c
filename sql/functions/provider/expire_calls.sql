-- millrace.expire_calls: forgets single calls to providers, and answers that nobody came back for, after retention.call_days; what was spent in a day after four hundred. Answers that could not be used stay as long as
-- the page that they are evidence of.
create or replace function millrace.expire_calls(p_limit integer) returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := millrace.now();
  v_calls integer;
  v_days integer;
  v_answers integer;
  v_orphans integer;
  v_kept interval := make_interval(days => millrace.config_integer('retention.call_days', 90));
begin
  delete from millrace.provider_call c where c.call_id in (
    select o.call_id from millrace.provider_call o where o.started_at < v_now - v_kept
     order by o.started_at limit p_limit);
  get diagnostics v_calls = row_count;
  delete from millrace.provider_spend s where s.day < (v_now at time zone 'UTC')::date - 400;
  get diagnostics v_days = row_count;
  delete from millrace.paid_answer a where (a.file_id, a.page, a.stage, a.question_sha256) in (
    select o.file_id, o.page, o.stage, o.question_sha256 from millrace.paid_answer o where o.refused is null and o.kept_at < v_now - v_kept order by o.kept_at limit p_limit);
  get diagnostics v_answers = row_count;
  -- Kept while the page went: the lease of who kept it was still good.
  delete from millrace.paid_answer a where (a.file_id, a.page, a.stage, a.question_sha256) in (
    select o.file_id, o.page, o.stage, o.question_sha256 from millrace.paid_answer o join millrace.document d on d.file_id = o.file_id
     where o.refused is not null
       and (d.state = 'rejected' and not millrace.only_quarantined(d.findings)
            or o.page > 0 and not exists (select from millrace.page p where p.file_id = o.file_id and p.page = o.page)) limit p_limit);
  get diagnostics v_orphans = row_count;
  return v_calls + v_days + v_answers + v_orphans;
end;
$$;
