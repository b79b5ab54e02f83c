-- millrace.find_generation: what is being built of the document of a job, or else what is published of it; null where there is neither. For workers. As millrace.generation_json, and turned_away: how many of the last twenty
-- deliveries that the job has had in this life found a worker with another model than the generation's.
create or replace function millrace.find_generation(p_job_id uuid) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  return (select millrace.generation_json(row(g.*)::millrace.generation)
                   || jsonb_build_object('turned_away', (select count(*) filter (where a.error ->> 'error_type' = 'other_model')
                        from (select t.error from millrace.attempt t join millrace.lease l on l.job_id = t.job_id and l.generation = t.generation
                               where t.job_id = p_job_id order by t.attempt_seq desc limit 20) a))
            from millrace.job_fact j
            join millrace.generation g on g.file_id = millrace.uuid_or_null(j.payload ->> 'shell_file_id') and g.tenant_id = j.tenant_id
           where j.job_id = p_job_id and g.state in ('building', 'published') order by (g.state = 'building') desc limit 1);
end;
$$;
