-- millrace.audit_digest: SHA-256 of an audit row. Every field goes in with its length (array_send writes length and
-- bytes of each element, and tells null from empty), under a domain of its own, so that no two rows give the
-- same bytes. Independent of session settings: times are microseconds, text is UTF-8.
create or replace function millrace.audit_digest(p_row millrace.audit) returns bytea
  language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return sha256(array_send(array[
    '\x6d696c6c726163652e61756469742e7631'::bytea,
    int8send(p_row.audit_id), xid8send(p_row.xid), timestamptz_send(p_row.at), uuid_send(p_row.tenant_id),
    convert_to(p_row.actor, 'UTF8'), convert_to(p_row.worker_id, 'UTF8'), convert_to(p_row.table_name, 'UTF8'),
    convert_to(p_row.record_id, 'UTF8'), convert_to(p_row.operation, 'UTF8'), convert_to(p_row.action, 'UTF8'),
    array_send(p_row.job_ids), convert_to(p_row.old_values::text, 'UTF8'), convert_to(p_row.new_values::text, 'UTF8'),
    convert_to(p_row.reason, 'UTF8'), convert_to(p_row.category, 'UTF8'), uuid_send(p_row.patient_id)]));
end;
$$;
