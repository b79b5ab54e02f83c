"""Deployment: what a campaign attacks: a database with Millrace's schema, workers, keepers, producers, and ledgers that only count.

    deployment = Deployment(world, database, lease_ms=1000)
    deployment.prepare()                          queue, job type, public.ledger
    deployment.worker("w1", fault="claim.after=kill@3")   a process with slots for jobs of type chaos; keeper=True: it also stands for keeper
    deployment.producer("p1", rate=80)            until stopped; repeats what it does not know under the same keys
    deployment.stop_producers()                   waits until every call's fate is known
    deployment.settle_down()                      waits until no job lives any more; returns seconds, or None when it hung
    verdict = deployment.judge(conditions)        dump of the database, offline check, report
"""
import json
import pathlib
import shutil
import time

import proof
from proof.dump import dump_database

LEDGER = """
create table if not exists public.ledger (entry bigint generated always as identity, job_id uuid, key_id text, token uuid, delivery int,
  serial text, n bigint, at timestamptz default clock_timestamp());
grant select, insert on public.ledger to public"""
QUEUE = {"max_attempts": 50, "backoff_base": "50 ms", "backoff_cap": "500 ms", "lease": "2 s", "beat": "300 ms", "run_timeout": "3 s"}


class Deployment:
    def __init__(self, world, database, random, lease_ms=1000, url=None):
        self.world, self.database, self.random, self.lease_ms = world, database, random, lease_ms
        self.url = url or database.url()
        self.workers, self.producers, self.started = [], [], 0

    def sql(self, text):
        return self.database.sql(text)

    def number(self, text):
        return int(self.sql(text) or 0)

    def prepare(self):
        self.sql(f"select millrace.set_queue('chaos', '{json.dumps(QUEUE)}')")
        self.sql("""select millrace.set_job_type('chaos', '{"queue": "chaos"}')""")
        self.sql(LEDGER)

    # Processes.

    def worker(self, name=None, slots=8, fault=None, keeper=False, url=None, env=None):
        self.started += 1
        name = name or f"worker-{self.started}"
        environment = dict(env or {}) | ({"MILLRACE_FAULT": fault} if fault else {})
        argv = [self.world.program("chaos_worker"), url or self.url, slots, self.lease_ms] + (["keeper"] if keeper else [])
        process = self.world.processes.start(name, argv, env=environment)
        self.workers.append(process)
        return process

    def replace(self, process, **changes):
        """Another worker in place of one that died."""
        self.forget(process)
        return self.worker(**changes)

    def forget(self, process):
        if process in self.workers:
            self.workers.remove(process)

    def producer(self, name=None, rate=80, seconds=0, batch=20, url=None, fault=None):
        self.started += 1
        name = name or f"producer-{self.started}"
        argv = [self.world.program("chaos_producer"), url or self.url, name, self.random.randrange(1 << 32), rate, seconds, batch]
        process = self.world.processes.start(name, argv, env={"MILLRACE_FAULT": fault} if fault else {})
        self.producers.append(process)
        return process

    def stop_producers(self, timeout=60):
        for process in self.producers:
            if process.alive and process.terminate(timeout) is None:
                raise RuntimeError(f"{process.name} does not end:\n{process.log_text()[-1000:]}")
        self.producers.clear()

    def end_workers(self):
        for process in self.workers:
            process.end()
        self.workers.clear()

    # The end of a campaign.

    def live(self):
        return self.number("select count(*) from millrace.job_place where place <> 'history'")

    def settle_down(self, patience=30):
        """Every job that is left gets its chance: nothing may stand still for longer than `patience`."""
        began = moved = time.monotonic()
        last = None
        while True:
            state = self.sql("select concat_ws(' ', count(*) filter (where place = 'history'), count(*) filter (where place = 'ready'),"
                             " count(*) filter (where place = 'delayed'), count(*) filter (where place = 'lease')) from millrace.job_place")
            if state.split()[1:] == ["0", "0", "0"]:
                return time.monotonic() - began
            if state != last:
                last, moved = state, time.monotonic()
            if time.monotonic() - moved > patience:
                return None
            time.sleep(0.1)

    def judge(self, name, out, conditions, **options):
        """Copies the evidence into `out`/name, checks it, writes the report there."""
        directory = pathlib.Path(out) / name
        directory.mkdir(parents=True, exist_ok=True)
        dump_database(self.url_for_dump(), directory)
        shutil.copytree(self.world.history_dir, directory / "history", dirs_exist_ok=True)
        settings = {"lease_ms": self.lease_ms, "name": name, "conditions": conditions} | options
        (directory / "run.json").write_text(json.dumps(settings, indent=1) + "\n")
        verdict = proof.check_run(directory)
        verdict.write(directory)
        proof.write_report(directory, verdict)
        return verdict

    def url_for_dump(self):
        return self.database.url()
