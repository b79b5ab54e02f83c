-- millrace.refused_jobs: which jobs of a list millrace.enqueue_jobs would refuse, and with which code, without enqueueing any. Lists are checked whole and
-- halved only where something is wrong with them, and where they are too long for one piece of JSON.
create or replace function millrace.refused_jobs(p_jobs jsonb[]) returns table (ord integer, code text)
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer := coalesce(cardinality(p_jobs), 0);
  v_half integer := v_count / 2;
  v_code text;
begin
  if v_count = 0 then
    return;
  end if;
  if v_count <= 100 then
    begin
      perform millrace.check_specs(millrace.specs_from_json(to_jsonb(p_jobs)), millrace.tenant_scope());
      return;
    exception when others then
      v_code := sqlstate;
      if v_code !~ '^MR' then
        raise;
      end if;
    end;
    if v_count = 1 then
      return query select 1, v_code;
      return;
    end if;
  end if;
  return query select r.ord, r.code from millrace.refused_jobs(p_jobs[1:v_half]) r;
  return query select r.ord + v_half, r.code from millrace.refused_jobs(p_jobs[v_half + 1:v_count]) r;
end;
$$;
