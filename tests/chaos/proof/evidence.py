"""Reads the dump of the database (see dump.py) into the Run that the history began.

The audit is followed record by record in the order of its numbers. A number is drawn inside the transaction of its transition, and
a transition waits for the commit of the one before it on the same job or slot: per job, and per slot, the order is that of events.
"""
import json
import pathlib
import sys

from .model import Job, LostDelivery, Row
from .trail import LETTERS, read_word



def dump_file(directory, name):
    for folder in (pathlib.Path(directory), pathlib.Path(directory) / "dump"):
        if (folder / name).exists():
            return folder / name
    return None


def read_lines(directory, name):
    path = dump_file(directory, name)
    if path is None:
        return
    with open(path, encoding="utf-8") as file:
        for text in file:
            if text.strip():
                yield json.loads(text)


def read_evidence(run, directory):
    run.has_dump = dump_file(directory, "jobs.jsonl") is not None
    counters = dump_file(directory, "counters.json")
    if counters is not None:
        run.counters = json.loads(counters.read_text())
        clock = run.counters.get("clock")
        if clock:
            run.clock = clock["database_seconds"] - clock["t"] / 1e9
    for line in read_lines(directory, "jobs.jsonl"):
        read_job(run, line)
    for line in read_lines(directory, "attempts.jsonl"):
        read_attempt(run, line)
    for line in read_lines(directory, "ledger.jsonl"):
        read_ledger(run, line)
    for line in read_lines(directory, "limits.jsonl"):
        read_limit(run, line)
    read_audit(run, directory)


def read_job(run, line):
    job = run.job(line["job_id"])
    job.places += 1
    row = job.row = Row()
    intern = sys.intern
    row.key = line.get("key_id")
    if row.key is not None and row.key == job.key:
        row.key = job.key
    if row.key is not None:
        run.by_key[row.key] = (*run.by_key.get(row.key, ()), job.id) if job.places == 1 else run.by_key[row.key]
    row.queue = intern(line.get("queue") or "")
    row.type = intern(line.get("job_type") or "")
    row.status = intern(line.get("status") or "")
    row.reason = intern(line.get("reason") or "")
    row.place = intern(line.get("place") or "")
    row.expect = intern(line.get("expect") or "any")
    row.effect = intern(line["effect"]) if line.get("effect") else None
    row.delivery_count = line.get("delivery_count") or 0
    row.generation = line.get("generation") or 1
    token = line.get("token")
    row.token = run.tokens[token].token if token in run.tokens else token
    row.parent = line.get("parent_id")
    row.follows = line.get("follows")
    row.limit = intern(line["limit"]) if line.get("limit") else None
    row.cost = line.get("cost") or 1
    row.keyed = bool(line.get("keyed"))
    row.created = run.mono(line.get("created_at"))
    row.finished = run.mono(line.get("finished_at"))


def read_attempt(run, line):
    token = line.get("token")
    if token is None:
        return
    job = run.job(line["job_id"])
    job.attempts += 1
    run.ends[token] = sys.intern(line["outcome"])
    if line["outcome"] == "lost":
        lost = LostDelivery(job, token, line.get("worker_id"), run.mono(line.get("ended_at")), line.get("delivery_count"))
        job.lost_deliveries = (*job.lost_deliveries, lost)


def read_ledger(run, line):
    job = run.jobs.get(line.get("job_id"))
    if job is None:
        run.stray_ledger.append((line.get("job_id"), line.get("token")))
        return
    job.ledger += 1
    job.ledger_token = line.get("token")


def read_limit(run, line):
    kind = line.get("kind", "grant")
    if kind == "limit":
        run.limits[line["limit"]] = line
    elif kind == "queue":
        run.queues[line["queue"]] = line
    elif kind == "slot":
        run.slots.append(line)
    else:
        at = line["at"]
        run.file_grants[line["limit"]].append((at, line.get("until", at), line.get("requests", 1), line.get("cost", 1)))


class Unordered(Exception):
    pass


def read_audit(run, directory):
    try:
        follow_audit(run, read_lines(directory, "audit.jsonl"))
    except Unordered:
        for job in run.jobs.values():
            job.word, job.times = "", ()
        follow_audit(run, sorted(read_lines(directory, "audit.jsonl"), key=lambda line: line["audit_id"]))


def follow_audit(run, lines):
    last = -1
    running = Running(run)
    run.audit_rows = 0
    intern = sys.intern
    for line in lines:
        if line["audit_id"] < last:
            raise Unordered
        last = line["audit_id"]
        run.audit_rows += 1
        action = line["action"]
        letter = LETTERS.get(action)
        if letter is None:
            continue
        for job_id in line["jobs"]:
            job = run.jobs.get(job_id)
            if job is None:
                job = run.jobs[job_id] = Job(job_id)
            word = intern(job.word + letter)
            if running.watches and job.row is not None:
                running.moved(job, (read_word(word).state == "leased") - (read_word(job.word).state == "leased"))
            job.word = word
            if job.lost_deliveries:
                job.times = (*job.times, (action, run.mono(line.get("at"))))


class Running:
    """How many jobs of a limit, or of a queue with a bound, are leased at once. Counting in audit order never counts more than were
    really leased together: an end draws its number before the slot that it frees can be taken."""

    def __init__(self, run):
        self.run = run
        self.bounds = {("limit", name): d["concurrent"] for name, d in run.limits.items() if d.get("concurrent") is not None}
        self.bounds.update({("queue", name): d["concurrent"] for name, d in run.queues.items() if d.get("concurrent") is not None})
        self.now = dict.fromkeys(self.bounds, 0)
        self.watches = bool(self.bounds)
        run.worst_running = dict.fromkeys(self.bounds, 0)
        run.over_running = []

    def moved(self, job, by):
        if by == 0:
            return
        for name in (("limit", job.row.limit), ("queue", job.row.queue)):
            if name not in self.now:
                continue
            self.now[name] += by
            if self.now[name] > self.run.worst_running[name]:
                self.run.worst_running[name] = self.now[name]
                if self.now[name] == self.bounds[name] + 1:
                    self.run.over_running.append((name, self.bounds[name], job))
