-- millrace.check_replay: MR011 where a file that has the key of an upload is about another patient, or went into another pipeline: then it is no
-- answer to this request, though the content may be the same.
create or replace function millrace.check_replay(p_file millrace.shell_files, p_upload millrace.upload) returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_file.patient_id <> p_upload.patient_id then
    raise exception 'idempotency_key was used before for another patient' using errcode = 'MR011';
  end if;
  if p_file.pipeline <> p_upload.pipeline then
    raise exception 'idempotency_key was used before for another pipeline' using errcode = 'MR011';
  end if;
end;
$$;
