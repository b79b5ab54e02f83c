#!/usr/bin/env python3
"""Random kills -9 of worker processes under load, then an account that must balance to the job.

Mixed jobs (plain, flaky, permanent failures, cancelled half-way, delayed, serial keys) with handlers of 0 to 500 ms and a lease of 5 s.
Effects are rows of public.ledger, written by the handlers' own statements; the engine never reads it.
"""
import argparse
import json
import time

from chaos_support import Run, Verdict

PROFILES = {
    "short": dict(processes=4, slots=16, seconds=12, kills=8, per_second=60),
    "long": dict(processes=16, slots=64, seconds=95, kills=64, per_second=150),
}
KINDS = ["plain"] * 60 + ["flaky"] * 10 + ["permanent"] * 4 + ["delayed"] * 6 + ["serial"] * 14 + ["cancel"] * 6


def make_jobs(run, start, count):
    jobs = []
    for n in range(start, start + count):
        kind = run.random.choice(KINDS)
        payload = {"kind": kind, "n": n, "ms": run.random.choice([0, 0, 5, 20, 50, 100, 200, 500])}
        job = {"job_type": "chaos", "payload": payload, "priority": run.random.randrange(0, 10)}
        if kind == "delayed":
            job["delay_seconds"] = run.random.randrange(1, 8)
        if kind == "serial":
            payload["serial"] = job["serial_key"] = f"key-{run.random.randrange(12)}"
            payload["ms"] = min(payload["ms"], 50)
            job["priority"] = 5
        if kind == "cancel":
            payload["ms"] = 500
        jobs.append(job)
    return jobs


def prepare(run):
    run.sql("""
      select millrace.set_queue('chaos', '{"max_attempts": 30, "backoff_base": "200 ms", "backoff_cap": "2 s", "lease": "5 s", "beat": "1 s", "run_timeout": "30 s"}');
      select millrace.set_job_type('chaos', '{"queue": "chaos"}');
      create table public.ledger (entry bigint generated always as identity, job_id uuid, key_id text, token uuid, serial text, n bigint, delivery int, at timestamptz default clock_timestamp())""")


def load(run, profile):
    workers = [run.start(run.build / "tests/chaos/chaos_worker" if (run.build / "tests/chaos/chaos_worker").exists() else run.build / "chaos_worker",
                         run.url, profile["slots"], 5000) for _ in range(profile["processes"])]
    began = time.monotonic()
    sent = kills = 0
    next_kill = began + 1.0
    interval = (profile["seconds"] - 2) / profile["kills"]
    while time.monotonic() - began < profile["seconds"] or kills < profile["kills"]:
        elapsed = time.monotonic() - began
        due = int(min(elapsed, profile["seconds"]) * profile["per_second"]) - sent
        if due > 0:
            text = json.dumps(make_jobs(run, sent, due)).replace("'", "''")
            run.sql(f"select count(*) from millrace.enqueue_jobs('{text}')")
            sent += due
            run.sql("select count(*) from millrace.cancel_jobs(array(select p.job_id from millrace.job_place p join millrace.job_fact f using (job_id)"
                    " left join millrace.lease l using (job_id) where p.place = 'lease' and f.payload ->> 'kind' = 'cancel'"
                    " and l.cancel_requested_at is null limit 10), 'chaos')")
        if time.monotonic() >= next_kill:
            victim = run.random.randrange(len(workers))
            run.kill(workers[victim])
            workers[victim] = run.start(*workers[victim].args)
            kills += 1
            next_kill += interval
            if kills % 10 == 0:
                print(f"  {elapsed:5.1f} s: {sent} jobs sent, {kills} kills, {run.number('select count(*) from public.ledger')} effects", flush=True)
        time.sleep(0.02)
    return sent, kills


def drain(run):
    """Waits until nothing lives any more; says how long the last job took. Two leases and the longest retry delay bound it while nothing is stuck."""
    began = time.monotonic()
    last, moved = None, time.monotonic()
    while True:
        live = run.number("select count(*) from millrace.job_place where place <> 'history'")
        if live == 0:
            return time.monotonic() - began, True
        done = run.number("select count(*) from millrace.job_place where place = 'history'")
        if done != last:
            last, moved = done, time.monotonic()
        if time.monotonic() - moved > 25:
            return time.monotonic() - began, False
        time.sleep(0.2)


def judge(run, sent, kills, drained, seconds):
    verdict = Verdict()
    verdict.check("kills -9", True, kills)
    stuck = "nothing left after %.1f s" % seconds if drained else run.sql(
        "select json_agg(j) from (select concat_ws(' ', p.place, p.reason) as place, p.job_id::text"
        " from millrace.job_place p where p.place <> 'history' limit 10) j")
    verdict.check("no job stuck", drained, stuck)
    run.sql("select millrace.fold_counters()")
    counts = run.sql("select json_build_object('enqueued', sum(enqueued), 'completed', sum(completed), 'failed', sum(failed), 'cancelled', sum(cancelled),"
                     " 'live', sum(live)) from millrace.queue_counts() where queue = 'chaos'")
    c = json.loads(counts)
    verdict.check("account: enqueued = completed + failed + cancelled + live",
                  c["enqueued"] == sent == c["completed"] + c["failed"] + c["cancelled"] + c["live"], counts)
    real = run.sql("select json_object_agg(status, n) from (select status, count(*) n from millrace.job_place where place = 'history' group by 1) s")
    verdict.check("history agrees with the counters", json.loads(real).get("completed", 0) == c["completed"] and json.loads(real).get("failed", 0) == c["failed"], real)
    verdict.check("no effect twice (ledger)", run.number("select count(*) from (select from public.ledger group by job_id having count(*) > 1) t") == 0,
                  f"{run.number('select count(*) from public.ledger')} effects")
    verdict.check("an effect for every completed job, none for others",
                  run.number("select count(*) from (select * from millrace.job_place where place = 'history') h full join public.ledger l using (job_id)"
                             " where (h.status = 'completed') is distinct from (l.job_id is not null)") == 0, c["completed"])
    verdict.check("no innocent job is poison or dead", run.number(
        "select count(*) from millrace.job_history h join millrace.job_fact f using (job_id) where h.status = 'failed' and f.payload ->> 'kind' <> 'permanent'") == 0,
        run.sql("select coalesce(json_object_agg(reason, n), '{}') from (select reason, count(*) n from millrace.job_history where status = 'failed' group by 1) r"))
    verdict.check("serial keys in order", run.number(
        "select count(*) from (select n, lag(n) over (partition by serial order by entry) as before from public.ledger where serial is not null) o where before > n") == 0,
        f"{run.number('select count(*) from public.ledger where serial is not null')} effects of {run.number('select count(distinct serial) from public.ledger')} keys")
    verdict.check("jobs recovered from dead workers", run.number("select count(*) from millrace.attempt where outcome = 'lost'") > 0,
                  run.sql("select count(*) from millrace.attempt where outcome = 'lost'"))
    return verdict


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--profile", choices=PROFILES, default="short")
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    profile = PROFILES[options.profile]
    print(f"{profile['processes']} processes x {profile['slots']} slots, lease 5 s, {profile['seconds']} s, {profile['kills']} kills", flush=True)
    with Run(options.build, options.seed) as run:
        prepare(run)
        sent, kills = load(run, profile)
        seconds, drained = drain(run)
        verdict = judge(run, sent, kills, drained, seconds)
        if verdict.failed:
            verdict.finish()
    verdict.finish()


if __name__ == "__main__":
    main()
