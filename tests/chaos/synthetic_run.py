#!/usr/bin/env python3
"""Makes the files of a chaos run without running anything: a small honest engine in virtual time whose history and dump are true unless
somebody tampers with them. The checker's tests build their cases on it, the report's picture and the checker's speed are tried with it.
"""
import collections
import json
import pathlib
import random

MS = 1_000_000
SECOND = 1_000_000_000
DATABASE_EPOCH = 1_790_000_000.0
FINAL = {"ok": "completed", "permanent": "failed", "cancelled": "cancelled"}
RECORD = {"retry": "retried", "partial": "retried", "throttled": "rescheduled", "blocked": "rescheduled", "lost": "reclaimed",
          "handback": "handed_back"}


class Process:
    """One actor and its history file."""

    def __init__(self, world, role, pid, **hello):
        self.world, self.role, self.pid = world, role, pid
        self.name = f"{role}-{pid}-{world.random.getrandbits(32):08x}"
        self.lines = []
        self.calls = 0
        self.write("hello", actor=self.name, role=role, pid=pid, wall_ms=int(world.wall() * 1000), **hello)

    def write(self, op, **fields):
        self.lines.append(json.dumps({"t": self.world.now, "op": op, **fields}, separators=(",", ":")))

    def call(self, op, **fields):
        self.calls += 1
        self.write(op, n=self.calls, ph="call", **fields)
        return self.calls

    def end(self, op, number, phase, **fields):
        """phase None: the process died before it heard."""
        if phase is not None:
            self.write(op, n=number, ph=phase, **fields)


class Delivery:
    def __init__(self, job, token, number, worker):
        self.job, self.token, self.number, self.worker = job, token, number, worker


class World:
    def __init__(self, seed=1):
        self.random = random.Random(seed)
        self.now = 5 * SECOND
        self.processes = []
        self.jobs = collections.OrderedDict()
        self.by_key = {}
        self.attempts = []
        self.audit = []
        self.ledger = []
        self.limits = []
        self.counters = {}
        self.pids = 1000
        self.records = 0
        self.nemesis = self.process("nemesis")
        self.server = None

    # Time and actors.

    def wall(self):
        return DATABASE_EPOCH + self.now / SECOND

    def advance(self, ms):
        self.now += int(ms * MS)

    def uuid(self):
        h = f"{self.random.getrandbits(128):032x}"
        return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"

    def process(self, role, **hello):
        self.pids += 1
        made = Process(self, role, self.pids, **hello)
        self.processes.append(made)
        return made

    def fault(self, kind, target=None, **fields):
        self.nemesis.write("fault", kind=kind, target=target.name if isinstance(target, Process) else target, **fields)

    def kill(self, worker):
        self.fault("kill", worker)

    def hit(self, process, point, action="kill"):
        process.write("fault", point=point, action=action)

    def phase(self, name):
        self.nemesis.write("phase", name=name)

    # The engine.

    def record(self, action, *jobs, worker=None):
        self.records += 1
        self.audit.append({"audit_id": self.records, "at": self.wall(), "action": action, "jobs": list(jobs), "worker": worker})

    def enqueue(self, producer, *keys, phase="ok", done=True, **row):
        """Returns the id of the job, or the ids of several. phase: what the producer heard; done: what became of it."""
        number = producer.call("enqueue", keys=list(keys))
        self.advance(1)
        ids = [self.add_job(key, **row) for key in keys] if done else []
        if ids:
            self.record("enqueued", *ids)
        self.advance(1)
        if phase == "ok":
            producer.end("enqueue", number, "ok", jobs=[{"key": k, "job": j} for k, j in zip(keys, ids)])
        else:
            producer.end("enqueue", number, phase, error="fault injected")
        return ids[0] if len(ids) == 1 else ids

    def add_job(self, key, **row):
        job_id = self.by_key.get(key) or self.uuid()
        if job_id in self.jobs:
            return job_id
        if key is not None:
            self.by_key[key] = job_id
        self.jobs[job_id] = {
            "job_id": job_id, "key_id": key, "queue": "chaos", "job_type": "chaos", "status": "pending", "reason": None, "attempt": 0,
            "delivery_count": 0, "generation": 1, "token": None, "place": "ready", "expect": "completed", "created_at": self.wall(), **row}
        return job_id

    def claim(self, worker, *job_ids, phase="ok", limit=None):
        """The deliveries, whoever heard of them."""
        number = worker.call("claim", worker=worker.name, queue="chaos", limit=limit or max(len(job_ids), 1))
        self.advance(1)
        made = self.take(worker, *job_ids)
        self.advance(1)
        if phase == "ok":
            worker.end("claim", number, "ok", jobs=[
                {"job": d.job, "token": d.token, "attempt": self.jobs[d.job]["attempt"] + 1, "delivery": d.number} for d in made])
        else:
            worker.end("claim", number, phase, error="connection lost")
        return made[0] if len(made) == 1 else made

    def take(self, worker, *job_ids):
        """What a claim does in the database."""
        made = []
        for job_id in job_ids:
            job = self.jobs[job_id]
            assert job["place"] == "ready", job
            job.update(place="lease", status="processing", token=self.uuid(), worker=worker.name, delivery_count=job["delivery_count"] + 1)
            made.append(Delivery(job_id, job["token"], job["delivery_count"], worker))
        if made:
            self.record("claimed", *job_ids, worker=worker.name)
        return made

    def work(self, delivery, ms=10, end=True):
        delivery.worker.write("run", ph="start", job=delivery.job, token=delivery.token, delivery=delivery.number, attempt=1)
        self.advance(ms)
        if end:
            delivery.worker.write("run", ph="end", job=delivery.job, token=delivery.token, outcome="ok")

    def settle(self, *deliveries, outcome="ok", phase="ok", done=True, effect=True):
        """Returns the answers that the database gave, heard or not."""
        worker = deliveries[0].worker
        number = worker.call("settle", worker=worker.name, jobs=[{"job": d.job, "token": d.token, "outcome": outcome} for d in deliveries])
        self.advance(1)
        answers = [self.settle_one(d, outcome, effect) if done else None for d in deliveries]
        ended = [d.job for d, a in zip(deliveries, answers) if a == "settled"]
        if ended:
            self.record(FINAL.get(outcome) or RECORD[outcome], *ended, worker=worker.name)
        self.advance(1)
        if phase == "ok":
            worker.end("settle", number, "ok", answers=[{"job": d.job, "answer": a} for d, a in zip(deliveries, answers)])
        else:
            worker.end("settle", number, phase, error="connection lost")
        return answers[0] if len(answers) == 1 else answers

    def settle_one(self, delivery, outcome, effect):
        job = self.jobs[delivery.job]
        if job["place"] != "lease" or job["token"] != delivery.token:
            lost = any(a["token"] == delivery.token and a["outcome"] == "lost" for a in self.attempts)
            known = job["token"] == delivery.token or any(a["token"] == delivery.token for a in self.attempts)
            return "already_settled" if known and not lost else "cancelled" if job["status"] == "cancelled" else "lease_lost"
        self.end_lease(job, outcome)
        if outcome == "ok" and effect and job.get("effect", "row") in ("row", "both"):
            self.add_effect(delivery)
        return "settled"

    def end_lease(self, job, outcome):
        if outcome not in ("ok", "handback"):
            job["attempt"] += 1
            self.attempts.append({"job_id": job["job_id"], "generation": job["generation"], "delivery_count": job["delivery_count"], "outcome": outcome,
                                  "charged": True, "token": job["token"], "worker_id": job["worker"], "ended_at": self.wall()})
        if outcome in FINAL:
            job.update(place="history", status=FINAL[outcome], reason=None if outcome == "ok" else outcome, finished_at=self.wall())
        else:
            job.update(place="ready", status="pending", token=None)

    def add_effect(self, delivery, **fields):
        job = self.jobs[delivery.job]
        self.ledger.append({"entry": len(self.ledger) + 1, "job_id": delivery.job, "key_id": job["key_id"], "token": delivery.token,
                            "delivery": delivery.number, "at": self.wall(), **fields})

    def request(self, delivery, key=None, **fields):
        """A request arrives at the HTTP ledger."""
        self.server = self.server or self.process("handler-server")
        self.server.write("effect", key=key or f"{delivery.job}:{self.jobs[delivery.job]['generation']}", job=delivery.job,
                          **{"answered": True, "status": 200, **fields})

    def reclaim(self, *job_ids):
        for job_id in job_ids:
            self.end_lease(self.jobs[job_id], "lost")
        self.record("reclaimed", *job_ids)

    def cancel(self, job_id):
        self.jobs[job_id].update(place="history", status="cancelled", reason="asked for", finished_at=self.wall())
        self.record("cancelled", job_id)

    def redrive(self, job_id):
        self.jobs[job_id].update(place="ready", status="pending", token=None, reason=None, delivery_count=0, attempt=0,
                                 generation=self.jobs[job_id]["generation"] + 1)
        self.record("redriven", job_id)

    # Files.

    def write(self, directory, **run):
        directory = pathlib.Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        for process in self.processes:
            (directory / f"{process.name}.jsonl").write_text("\n".join(process.lines) + "\n")
        for name in ("attempts", "audit", "ledger", "limits"):
            write_lines(directory / f"{name}.jsonl", getattr(self, name))
        write_lines(directory / "jobs.jsonl", self.jobs.values())
        self.counters["clock"] = {"t": self.now, "database_seconds": self.wall()}
        (directory / "counters.json").write_text(json.dumps(self.counters))
        (directory / "run.json").write_text(json.dumps(run))


def write_lines(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
