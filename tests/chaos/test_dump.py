#!/usr/bin/env python3
"""The dump and the checker against the real engine: jobs are driven through the SQL functions in every way they can go, the evidence of an
honest database passes, and what is tampered with afterwards is found."""
import json
import pathlib
import random
import tempfile
import time
import unittest

from nemesis.postgres import Postgres
from nemesis.testing import world as nemesis_world
from proof import Options, check_run
from proof.dump import DumpFailed, dump_database
from synthetic_run import Process

JOBS = 240
PREPARE = """
select millrace.set_queue('chaos', '{"max_attempts": 50, "backoff_base": "0 s", "backoff_cap": "0 s", "lease": "5 s", "beat": "1 s", "reclaim_jitter": "0 s"}');
select millrace.set_job_type('chaos', '{"queue": "chaos"}');
create table public.ledger (entry bigint generated always as identity, job_id uuid, key_id text, token uuid, delivery int, at timestamptz default clock_timestamp());
"""


def literal(value):
    return "'" + (value if isinstance(value, str) else json.dumps(value)).replace("'", "''") + "'"


class Engine:
    """Producers and workers that write down what they do, over one connection to the real functions."""

    def __init__(self, database, seed):
        self.client = database.connect(timeout=60)
        self.random = random.Random(seed)
        self.processes = []
        self.workers = {}
        self.plain = []  # Jobs that went well at once.
        self.pids = 100
        self.nemesis = self.process("nemesis")

    @property
    def now(self):
        return time.monotonic_ns()

    @staticmethod
    def wall():
        return time.time()

    def process(self, role):
        self.pids += 1
        self.processes.append(Process(self, role, self.pids))
        return self.processes[-1]

    def worker(self):
        process = self.process("worker")
        nonce = self.client.value(f"select millrace.register_worker({literal(process.name)}, {literal({'lease_ms': 5000})})")
        self.workers[process.name] = nonce
        return process

    def enqueue(self, producer, keys, **payload):
        number = producer.call("enqueue", keys=keys)
        specs = [{"job_type": "chaos", "idempotency_key": key, "payload": {"key_id": key, **payload}} for key in keys]
        rows = self.client.query(f"select ord, job_id, answer from millrace.enqueue_jobs({literal(specs)}) order by ord")
        if self.random.random() < 0.2:  # The answer is lost, and the call repeated.
            producer.end("enqueue", number, "unknown", error="cut")
            return self.enqueue(producer, keys, **payload)
        jobs = [{"key": key, "job": row[1], "created": row[2] == "created"} for key, row in zip(keys, rows)]
        producer.end("enqueue", number, "ok", jobs=jobs)
        return [job["job"] for job in jobs]

    def claim(self, worker, limit=1, heard=True, alone=False):
        number = worker.call("claim", worker=worker.name, queue="chaos", limit=limit)
        rows = self.client.query(f"select job_id, token, attempt, delivery_count from millrace.claim_jobs({literal(worker.name)}, "
                                 f"'{self.workers[worker.name]}', 'chaos', {limit}, p_alone => {alone})")
        jobs = [{"job": r[0], "token": r[1], "attempt": int(r[2]), "delivery": int(r[3])} for r in rows]
        if heard:
            worker.end("claim", number, "ok", jobs=jobs)
        return jobs

    def settle(self, worker, job, outcome, heard=True):
        """In one transaction with its effect, as a handler's own statement runs."""
        number = worker.call("settle", worker=worker.name, jobs=[{"job": job["job"], "token": job["token"], "outcome": outcome}])
        item = {"job_id": job["job"], "token": job["token"], "outcome": outcome}
        self.client.query("begin")
        answer = self.client.query(f"select answer from millrace.settle_jobs({literal(worker.name)}, {literal([item])})")[0][0]
        if answer == "settled" and outcome == "ok":
            self.client.query(f"insert into public.ledger (job_id, key_id, token, delivery) select job_id, payload ->> 'key_id', '{job['token']}', "
                              f"{job['delivery']} from millrace.job_fact where job_id = '{job['job']}'")
        self.client.query("commit")
        if heard:
            worker.end("settle", number, "ok", answers=[{"job": job["job"], "answer": answer}])
        else:
            worker.end("settle", number, "unknown", error="cut")
        return answer

    def kill(self, worker):
        """Its row is gone as after an expired lease, and the sweep takes what it held."""
        self.nemesis.write("fault", kind="kill", target=worker.name, pid=worker.pid)
        self.client.query(f"delete from millrace.worker where worker_id = {literal(worker.name)}; select millrace.reclaim(1000)")
        return self.worker()

    def turn(self, worker):
        """One delivery, and one of the many ways it can end. Returns the worker that goes on."""
        roll = self.random.random()
        if roll < 0.04:
            self.claim(worker, heard=False)
            return self.kill(worker)
        self.client.query("select millrace.promote_due(1000)")
        # Jobs whose processes died again and again run alone.
        jobs = self.claim(worker) or self.claim(worker, alone=True)
        if not jobs:
            return worker
        job = jobs[0]
        worker.write("run", ph="start", job=job["job"], token=job["token"], delivery=job["delivery"], attempt=job["attempt"])
        if roll < 0.12:
            fresh = self.kill(worker)
            self.settle(worker, job, "ok")  # It was only paused, and wakes up.
            return fresh
        if roll < 0.20:
            self.settle(worker, job, "ok", heard=False)
            self.settle(worker, job, "ok")
        elif roll < 0.26:
            self.client.query(f"select millrace.cancel_jobs(array['{job['job']}']::uuid[], 'enough')")
            self.settle(worker, job, self.random.choice(["retry", "cancelled", "handback", "throttled"]))
        elif roll < 0.55:
            self.settle(worker, job, self.random.choice(["retry", "retry", "handback", "partial", "permanent", "throttled", "blocked"]))
        elif self.settle(worker, job, "ok") == "settled" and job["delivery"] == 1:
            self.plain.append(job["job"])
        return worker

    def run(self, jobs):
        producer, worker = self.process("producer"), self.worker()
        made = 0
        while made < jobs:
            keys = [f"k{n}" for n in range(made, made + self.random.randrange(1, 6))]
            ids = self.enqueue(producer, keys, expect="any")
            made += len(keys)
            if self.random.random() < 0.1:
                self.client.query(f"select millrace.cancel_jobs(array['{ids[0]}']::uuid[], 'not wanted')")
            for _ in range(self.random.randrange(1, 8)):
                worker = self.turn(worker)
            if self.random.random() < 0.2:
                self.client.query("select millrace.redrive_jobs('{\"queue\": \"chaos\"}', 2)")
        for _ in range(100 * jobs):
            if self.client.value("select exists (select from millrace.job_place where place <> 'history')") == "f":
                return
            self.client.query("select millrace.run_now(array(select job_id from millrace.delayed), 'the end')")
            worker = self.turn(worker)
        raise AssertionError("jobs are left that cannot be claimed")

    def write(self, directory):
        for process in self.processes:
            (pathlib.Path(directory) / f"{process.name}.jsonl").write_text("\n".join(process.lines) + "\n")


class Evidence(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.database = Postgres(nemesis_world(), "evidence", settings={"fsync": "off"}).start()
        cls.database.sql(PREPARE)
        cls.engine = Engine(cls.database, seed=11)
        cls.engine.run(JOBS)
        cls.engine.client.close()

    @classmethod
    def tearDownClass(cls):
        cls.database.stop()

    def check(self):
        with tempfile.TemporaryDirectory() as folder:
            self.engine.write(folder)
            dump_database(self.database.url(), folder)
            return check_run(folder, Options(lease_ms=5000))

    def sql(self, *statements):
        """Past the guards that keep the engine's own evidence from being changed."""
        self.database.sql("; ".join(["set session_replication_role = replica", *statements]))

    def assert_found(self, category, tamper, undo):
        self.sql(*tamper)
        try:
            verdict = self.check()
        finally:
            self.sql(*undo)
        self.assertEqual(verdict.counts, {category: 1}, verdict.text())

    def test_AnHonestRunPasses(self):
        verdict = self.check()
        self.assertTrue(verdict.ok, verdict.text())
        self.assertGreaterEqual(verdict.tally["ok"], JOBS)
        self.assertGreater(verdict.tally["recovered"], 0)
        self.assertGreater(verdict.figures["stale_refused"], 0)
        self.assertGreater(verdict.figures["lost_leases"], 0)
        self.assertEqual(verdict.figures["lost_without_fault"], 0)

    def test_ASecondEffectIsFound(self):
        job = self.engine.plain[0]
        self.assert_found("duplicated effect", [f"insert into public.ledger (job_id, key_id, token, delivery) select job_id, key_id, token, 99 from public.ledger where job_id = '{job}'"],
                          ["delete from public.ledger where delivery = 99"])

    def test_AMissingJobIsFound(self):
        job = self.engine.plain[0]
        tables = ("job_fact", "job_history")
        self.assert_found("lost", [f"create table public.saved_{t} as select * from millrace.{t} where job_id = '{job}'" for t in tables]
                          + [f"delete from millrace.{t} where job_id = '{job}'" for t in tables],
                          [f"insert into millrace.{t} select * from public.saved_{t}" for t in tables] + [f"drop table public.saved_{t}" for t in tables])

    def test_AJobInNoPlaceIsFound(self):
        job = self.engine.plain[0]
        self.assert_found("lost", [f"create table public.saved as select * from millrace.job_history where job_id = '{job}'",
                                   f"delete from millrace.job_history where job_id = '{job}'"],
                          ["insert into millrace.job_history select * from public.saved", "drop table public.saved"])

    def test_AnAuditRecordLessIsFound(self):
        job = self.engine.plain[0]
        self.assert_found("audit gap", [f"create table public.saved as select * from millrace.audit where action = 'completed' and job_ids = array['{job}']::uuid[]",
                                        f"delete from millrace.audit where action = 'completed' and job_ids = array['{job}']::uuid[]"],
                          ["insert into millrace.audit select * from public.saved", "drop table public.saved"])

    def test_AnotherTokenIsFound(self):
        """One delivery was told that it had ended the job, the database says another."""
        job = self.engine.plain[0]
        self.assert_found("stale accepted", [f"create table public.saved as select * from millrace.job_history where job_id = '{job}'",
                                             f"update millrace.job_history set token = gen_random_uuid() where job_id = '{job}'"],
                          [f"delete from millrace.job_history where job_id = '{job}'", "insert into millrace.job_history select * from public.saved", "drop table public.saved"])

    def test_ACountThatIsWrongIsFound(self):
        self.assert_found("audit gap", ["update millrace.counter_delta set completed = completed + 1 where delta_id = (select min(delta_id) from millrace.counter_delta)"],
                          ["update millrace.counter_delta set completed = completed - 1 where delta_id = (select min(delta_id) from millrace.counter_delta)"])

    def test_ADumpThatCannotBeTakenLeavesNothing(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(DumpFailed):
                dump_database(self.database.url(database="template1"), folder)
            self.assertEqual([p.name for p in pathlib.Path(folder).glob("*.jsonl")], [])


if __name__ == "__main__":
    unittest.main()
