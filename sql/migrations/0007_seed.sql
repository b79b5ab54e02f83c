-- What the product ships: queue policies (R-05), job types, configuration, provider limits, SQLSTATEs.
-- Seeds never overwrite: an operator's value survives every deploy.
-- Lock cost: inserts only. compat: rolling

insert into millrace.queue (queue, max_attempts, backoff_base, backoff_factor, backoff_cap, jitter_low, jitter_high,
                            lease, beat, run_timeout, reclaim_jitter, concurrency_max, key_concurrency_max, priority_default)
values
  ('default',    12, '15 s', 2, '1 hour', 1,   2,   '30 s',  '10 s', '300 s', '500 ms', null, null, 5),
  ('fast_queue',  7, '2 s',  2, '64 s',   1,   1.1, '300 s', '30 s', '120 s', '500 ms', null, null, 5),
  ('ai_queue',    7, '2 s',  2, '64 s',   1,   1.1, '300 s', '30 s', '600 s', '500 ms', null, null, 5),
  ('export',      5, '60 s', 2, '1 hour', 0.8, 1.2, '900 s', '30 s', '60 s',  '500 ms', 3,    3,    5),
  ('ingest',      6, '6 s',  2, '300 s',  0.9, 1.1, '300 s', '30 s', '600 s', '500 ms', null, null, 5),
  ('compute',     5, '0 s',  1, '0 s',    1,   1,   '90 s',  '45 s', '240 s', '0 s',    null, null, 100),
  ('system',     12, '15 s', 2, '1 hour', 1,   2,   '30 s',  '10 s', '300 s', '500 ms', null, null, 5)
on conflict (queue) do nothing;

insert into millrace.job_type (job_type, queue_id, required_keys, required_message, provider_name, api_endpoint)
select t.job_type, q.queue_id, t.required_keys, t.required_message, t.provider_name, t.api_endpoint
  from (values
    (1, 'fast_queue_security',   'fast_queue', array['shell_file_id'], 'fast_queue jobs require shell_file_id in payload', null, null),
    (2, 'fast_queue_ocr',        'fast_queue', array['shell_file_id'], 'fast_queue jobs require shell_file_id in payload', 'google', 'vision-api'),
    (3, 'fast_queue_spatial',    'fast_queue', array['shell_file_id'], 'fast_queue jobs require shell_file_id in payload', null, null),
    (4, 'ai_queue_pass1',        'ai_queue',   '{}'::text[], null, 'openai', 'gpt-4o-mini'),
    (5, 'ai_queue_pass2',        'ai_queue',   '{}', null, 'openai', 'gpt-4o-mini'),
    (6, 'ai_queue_pass3',        'ai_queue',   '{}', null, 'openai', 'gpt-4o-mini'),
    (7, 'audit_cleanup',         'system',     '{}', null, null, null),
    (8, 'notification_delivery', 'system',     '{}', null, null, null),
    (9, 'report_generation',     'system',     '{}', null, null, null),
    (10, 'backup_operation',      'system',     '{}', null, null, null),
    (11, 'system_maintenance',    'system',     '{}', null, null, null),
    (12, 'consent_verification',  'system',     '{}', null, null, null),
    (13, 'export_pdf',            'export',     array['document_id'], 'export jobs require document_id in payload', null, null),
    (14, 'ingest_document',       'ingest',     array['document_id'], 'ingest jobs require document_id in payload', null, null),
    (15, 'compute_solve',         'compute',    array['definition', 'version'], 'compute jobs require definition and version in payload', null, null),
    (16, 'noop',                  'default',    '{}', null, null, null),
    (17, 'sleep',                 'default',    '{}', null, null, null)
  ) as t (i, job_type, queue, required_keys, required_message, provider_name, api_endpoint)
  join millrace.queue q on q.queue = t.queue
 order by t.i
on conflict (job_type) do nothing;

insert into millrace.system_configuration (config_key, config_value, config_type, description, is_sensitive) values
  ('worker.heartbeat_interval_seconds', '30',  'system', 'Seconds between the heartbeats of a client of the source-named functions', false),
  ('worker.timeout_seconds',            '300', 'system', 'Lease in seconds of a job claimed through the source-named functions', false),
  ('worker.reclaim_jitter_max_seconds', '60',  'system', 'A job reclaimed from such a lease is due after a random delay up to this', false),
  ('queue.backpressure_delay_seconds',  '30',  'system', 'Default delay of a job sent back for want of provider capacity', false),
  ('system.maintenance_mode',           'false', 'system', 'While true, uploads are not taken in', false),
  ('system.enqueue_enabled',            'true', 'system', 'While false, every enqueue is refused with MR021', false),
  ('retention.history_days',            '30',  'system', 'Finished jobs are dropped when they are older than this', false),
  ('retention.event_days',              '7',   'system', 'Events are dropped when they are older than this', false),
  ('retention.audit_days',              '2555', 'system', 'Audit partitions are dropped when they are older than this', false),
  ('partition.days',                    '7',   'system', 'Days in one partition of job facts and history', false)
on conflict (config_key) do nothing;

insert into millrace.api_rate_limits (provider_name, api_endpoint, requests_per_minute, tokens_per_minute, concurrent_requests) values
  ('openai',    'gpt-4o-mini',  500,  200000, 50),
  ('openai',    'gpt-4-vision', 100,  20000,  20),
  ('google',    'vision-api',   1800, null,   100),
  ('anthropic', 'claude-3',     400,  100000, 25)
on conflict (provider_name, api_endpoint) do nothing;

insert into millrace.sqlstate (code, name, meaning) values
  ('MR001', 'lease_lost',             'The job is not held by this worker and token any more; discard the output.'),
  ('MR002', 'unknown_job_type',       'The job type is not registered, or is switched off.'),
  ('MR003', 'invalid_payload',        'The payload is empty, not an object, or misses a required key.'),
  ('MR004', 'payload_too_large',      'Payload or result is larger than 256 KiB; store it as a blob and enqueue its key.'),
  ('MR005', 'invalid_priority',       'Priority must be between 0 and 1000.'),
  ('MR006', 'invalid_schedule',       'A delay, due time or deadline is negative, too far away or contradictory.'),
  ('MR007', 'unknown_queue',          'No queue has this name.'),
  ('MR008', 'queue_full',             'The queue or provider backlog has reached its depth limit; try again later.'),
  ('MR009', 'job_not_found',          'No job of this tenant has this id.'),
  ('MR010', 'job_is_final',           'The job has ended; only a redrive can start it again.'),
  ('MR011', 'idempotency_mismatch',   'The idempotency key was used before with another request.'),
  ('MR012', 'invalid_cron',           'The cron expression or time zone is not valid.'),
  ('MR013', 'no_rate_limit',          'No active rate limit is configured for this provider and endpoint.'),
  ('MR014', 'cost_over_limit',        'One request costs more than the provider allows in a whole window.'),
  ('MR015', 'tenant_refused',         'The caller may not act for this tenant.'),
  ('MR016', 'invalid_settlement',     'The outcome or one of its fields is not valid.'),
  ('MR017', 'invalid_policy',         'A value of a queue, job type or limit policy is not valid.'),
  ('MR018', 'invalid_batch',          'The batch is unknown, of another tenant, or already sealed.'),
  ('MR019', 'invalid_dependency',     'A job to wait for is unknown, of another tenant, or the job itself.'),
  ('MR020', 'invalid_configuration',  'The configuration key or value is not valid.'),
  ('MR021', 'enqueue_disabled',       'An operator has switched enqueue off.'),
  ('MR022', 'immutable',              'Finished jobs, facts and audit rows never change.'),
  ('MR023', 'worker_unknown',         'The worker process is not registered or was declared dead; register again.'),
  ('MR024', 'invalid_argument',       'An argument is missing or out of range.')
on conflict (code) do nothing;
