-- millrace.check_configuration: trigger; a value of the wrong type is refused when it is written, so that no
-- later read has to guess.
create or replace function millrace.check_configuration() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if new.config_key in ('system.maintenance_mode', 'system.enqueue_enabled') then
    if new.config_value not in ('true', 'false') then
      raise exception '% must be true or false', new.config_key using errcode = 'MR020';
    end if;
  elsif new.config_key ~ '(_seconds|_minutes|_days)$' or new.config_key in
        ('partition.days', 'partition.minutes', 'export.operations_per_day', 'export.running_max', 'export.documents_max', 'export.cleanup_minute') then
    if new.config_value !~ '^[0-9]{1,9}$' then
      raise exception '% must be a whole number of at least 0', new.config_key using errcode = 'MR020';
    end if;
    if new.config_value::integer = 0 and new.config_key in
       ('worker.timeout_seconds', 'worker.heartbeat_interval_seconds', 'partition.days', 'partition.minutes', 'retention.history_days',
        'retention.history_minutes', 'upload.ttl_seconds', 'export.ttl_seconds') then
      raise exception '% must be at least 1', new.config_key using errcode = 'MR020';
    end if;
    if new.config_key = 'export.cleanup_minute' and new.config_value::integer > 1439 then
      raise exception '% must be at most 1439', new.config_key using errcode = 'MR020';
    end if;
    -- What is stored and not yet referred to must survive for as long as it may be on its way: see millrace.check_stored.
    if new.config_key = 'storage.orphan_grace_seconds' and new.config_value::integer < 7200 then
      raise exception '% must be at least 7200', new.config_key using errcode = 'MR020';
    end if;
  elsif new.config_key ~ '(_bytes|_files)$' then
    if new.config_value !~ '^[0-9]{1,18}$' then
      raise exception '% must be a whole number of at least 0', new.config_key using errcode = 'MR020';
    end if;
  end if;
  if new.config_key = 'webhook.allowed_addresses' and btrim(new.config_value) <> '' then
    begin
      perform btrim(n.network)::inet from unnest(string_to_array(new.config_value, ',')) n(network);
    exception when invalid_text_representation then
      raise exception '% must be addresses and networks with commas between them', new.config_key using errcode = 'MR020';
    end;
  end if;
  new.updated_at := millrace.now();
  return new;
end;
$$;
