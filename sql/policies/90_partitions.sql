-- The partitions of the coming time exist before the first job: making them under load would have to wait for it.
-- Seals that are to be trimmed are left to the keeper: here they would all go in one transaction.
do $$
declare
  v_report jsonb;
begin
  loop
    v_report := millrace.maintain_partitions();
    exit when v_report ? 'trimmed' or not (v_report ->> 'more')::boolean;
  end loop;
end;
$$;
