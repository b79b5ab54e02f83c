"""Writes the database's side of the evidence into a run's directory: what jobs there are and how they ended, attempts, audit, ledger, limits.

One transaction that sees one moment, one psql that fetches a few thousand rows at a time: the size of the tables does not matter. Files
appear under their names when all of them are complete.

    jobs.jsonl      a line per job and place it lies in (exactly one, if all is well): job_id, key_id, queue, job_type, status, reason, place
                    (ready, delayed, lease, history, or null), attempt, delivery_count, generation, token (of the lease, or of the settlement
                    that ended it), expect and effect (from the payload), parent_id, follows (key of the job that its success enqueues: the
                    next stage), limit and cost (of its provider), keyed (it may have to wait for others), created_at, finished_at
    attempts.jsonl  job_id, generation, delivery_count, outcome, charged, token, worker_id, ended_at
    audit.jsonl     audit_id, at, action, jobs, worker; in the order of audit_id
    ledger.jsonl    the rows of public.ledger
    limits.jsonl    kind limit (requests, tokens, window_s, hour_requests, hour_tokens, hour_window_s, concurrent), kind queue (queue, concurrent),
                    kind slot (limit, job, token, acquired_at, lease_until)
    counters.json   totals by the engine's counters, audit_problems by its own verification, and one moment on both clocks

Times are seconds of the database's clock.
"""
import json
import os
import pathlib
import subprocess
import time

JOBS = """
with place as (
  select job_id, place, case when place = 'ready' and attempt > 0 then 'retrying' else status end as status, reason, attempt, delivery_count, generation,
         token, finished_at from millrace.job_place)
select json_build_object(
         'job_id', coalesce(f.job_id, p.job_id), 'key_id', f.payload ->> 'key_id', 'queue', q.queue, 'job_type', t.job_type, 'status', p.status,
         'reason', p.reason, 'place', p.place, 'attempt', p.attempt, 'delivery_count', p.delivery_count, 'generation', p.generation, 'token', p.token,
         'expect', f.payload ->> 'expect', 'effect', f.payload ->> 'effect', 'parent_id', f.parent_id,
         'follows', case when f.payload ->> 'kind' = 'stage' and f.payload ->> 'left' <> '0' then (f.payload ->> 'key_id') || '+' end,
         'limit', t.provider_name || ':' || t.api_endpoint, 'cost', case when t.provider_name is not null then f.estimated_tokens end,
         'keyed', f.serial_key is not null or f.concurrency_key is not null,
         'created_at', extract(epoch from f.created_at), 'finished_at', extract(epoch from p.finished_at))
  from millrace.job_fact f
  full join place p on p.job_id = f.job_id
  left join millrace.queue q on q.queue_id = f.queue_id
  left join millrace.job_type t on t.type_id = f.type_id
"""

ATTEMPTS = """
select json_build_object('job_id', job_id, 'generation', generation, 'delivery_count', delivery_count, 'outcome', outcome, 'charged', charged,
         'token', token, 'worker_id', worker_id, 'ended_at', extract(epoch from ended_at)) from millrace.attempt
"""

# Rows about a claim name its jobs by their positions in it.
AUDIT = """
select json_build_object('audit_id', a.audit_id, 'at', extract(epoch from a.at), 'action', a.action, 'jobs',
         case when a.table_name = 'job_queue' then a.job_ids
              else array(select u.job_id from millrace.claim c cross join lateral unnest(c.job_ids) with ordinality u(job_id, n)
                          where c.claim_id::text = a.record_id
                            and (a.action = 'claimed' or get_bit((a.new_values ->> 'done')::bit varying, (u.n - 1)::integer) = 1) order by u.n) end,
         'worker', a.worker_id)
  from millrace.audit a where (a.table_name = 'job_queue' and a.job_ids <> '{}') or a.table_name = 'claim' order by a.audit_id
"""

LEDGER = """
select to_jsonb(l) || jsonb_build_object('at', extract(epoch from l.at)) from public.ledger l order by l.entry
"""

# Reading the limits in force means calling a function of the engine; every provider that is not switched off.
LIMITS = """
select json_build_object('kind', 'limit', 'limit', p.provider_name || ':' || p.api_endpoint, 'requests', e.requests_per_minute,
         'tokens', e.tokens_per_minute, 'window_s', extract(epoch from p.minute_window), 'hour_requests', e.requests_per_hour,
         'hour_tokens', e.tokens_per_hour, 'hour_window_s', extract(epoch from p.hour_window), 'concurrent', e.concurrent_requests)
  from millrace.api_rate_limits p cross join lateral millrace.effective_limit(p.provider_id) e where e.status = 'active'
union all
select json_build_object('kind', 'queue', 'queue', q.queue, 'concurrent', q.concurrency_max) from millrace.queue q where q.concurrency_max is not null
union all
select json_build_object('kind', 'slot', 'limit', p.provider_name || ':' || p.api_endpoint, 'job', s.job_id, 'token', s.token,
         'acquired_at', extract(epoch from s.acquired_at), 'lease_until', extract(epoch from s.lease_until))
  from millrace.provider_slot s join millrace.api_rate_limits p on p.provider_id = s.provider_id where s.claim_id is null
union all
select json_build_object('kind', 'slot', 'limit', p.provider_name || ':' || p.api_endpoint, 'job', c.job_ids[n], 'token', millrace.claim_token(c.claim_id, n - 1),
         'acquired_at', extract(epoch from s.acquired_at), 'lease_until', extract(epoch from s.lease_until))
  from millrace.provider_slot s join millrace.api_rate_limits p on p.provider_id = s.provider_id
  join millrace.claim c on c.claim_id = s.claim_id left join millrace.claim_open o on o.claim_id = s.claim_id
  cross join lateral generate_series(1, cardinality(c.job_ids)) n where o.claim_id is null or get_bit(o.held, n - 1) = 1
"""

COUNTERS = """
select json_build_object(
  'totals', (select json_build_object('enqueued', coalesce(sum(enqueued), 0), 'completed', coalesce(sum(completed), 0),
               'failed', coalesce(sum(failed), 0), 'cancelled', coalesce(sum(cancelled), 0), 'live', coalesce(sum(live), 0))
               from millrace.queue_counts()),
  'audit_problems', (select count(*) from millrace.verify_audit()),
  'now', extract(epoch from clock_timestamp()))
"""

FILES = {"jobs.jsonl": JOBS, "attempts.jsonl": ATTEMPTS, "audit.jsonl": AUDIT, "ledger.jsonl": LEDGER, "limits.jsonl": LIMITS, "counters.json": COUNTERS}


class DumpFailed(Exception):
    pass


def dump_database(url, directory, verify_audit=True, psql="psql"):
    """Returns how many lines each file has. verify_audit=False leaves out the audit's own verification, which reads every record."""
    directory = pathlib.Path(directory).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    files = dict(FILES)
    if not verify_audit:
        files["counters.json"] = COUNTERS.replace("(select count(*) from millrace.verify_audit())", "null::bigint")
    if run_psql(psql, url, directory, "select to_regclass('public.ledger') is not null;").strip() != "t":
        files.pop("ledger.jsonl")
    run_psql(psql, url, directory, script(files))
    for name in files:
        os.replace(directory / f"{name}.part", directory / name)
    finish_counters(psql, url, directory)
    return {name: count_lines(directory / name) for name in files}


def script(files):
    # FETCH_COUNT makes psql read through a cursor; repeatable read lets all files show the same moment.
    parts = [r"\set FETCH_COUNT 2000", "begin isolation level repeatable read read only;", "set local jit = off;", "set local statement_timeout = 0;"]
    for name, query in files.items():
        parts += [rf"\o {name}.part", query.strip() + ";", r"\o"]
    return "\n".join([*parts, "commit;"]) + "\n"


def run_psql(psql, url, directory, text):
    done = subprocess.run([psql, "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", url, "-f", "-"], input=text, capture_output=True, text=True, cwd=directory)
    if done.returncode != 0:
        raise DumpFailed(done.stderr.strip() or f"psql ended with {done.returncode}")
    return done.stdout


def finish_counters(psql, url, directory):
    """One moment on both clocks, as close as a round trip on an open connection allows: the best of a few."""
    best = None
    with subprocess.Popen([psql, "-XqAt", "-d", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as session:
        for _ in range(10):
            before = time.monotonic_ns()
            session.stdin.write("select extract(epoch from clock_timestamp());\n")
            session.stdin.flush()
            answer = session.stdout.readline()
            after = time.monotonic_ns()
            if not answer:
                raise DumpFailed("psql ended early")
            if best is None or after - before < best[0]:
                best = (after - before, (before + after) // 2, float(answer))
        session.stdin.close()
    path = directory / "counters.json"
    counters = json.loads(path.read_text())
    counters["clock"] = {"t": best[1], "database_seconds": best[2], "uncertain_ms": round(best[0] / 2e6, 3)}
    path.write_text(json.dumps(counters) + "\n")


def count_lines(path):
    count = 0
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            count += chunk.count(b"\n")
    return count
