"""Reads the history files of a run into a Run, one line at a time.

A file belongs to one process. A call and its answer are joined by their number; a call without an answer, because its process died
or the line was torn, has an unknown fate.
"""
import json
import pathlib
import re

from .faults import aim_faults, down_spans, undone_spans
from .model import SECOND, Actor, Delivery, Fault, Key, Run, Settle

FILE_NAME = re.compile(r"^(?P<role>.+)-(?P<pid>\d+)-[0-9a-f]{8}\.jsonl$")
# The nemesis is read first: what a fail-over may have undone must be known before the answers are weighed.
FIRST_ROLES = ("nemesis", "runner")


def history_files(directory):
    found = []
    for folder in (pathlib.Path(directory), pathlib.Path(directory) / "history"):
        if folder.is_dir():
            found += [p for p in folder.iterdir() if FILE_NAME.match(p.name)]
    return sorted(found, key=lambda p: (not p.name.startswith(FIRST_ROLES), p.name))


def read_history(directory):
    run = Run()
    run.files = history_files(directory)
    offsets = []
    nemesis_done = False
    for path in run.files:
        if not nemesis_done and not path.name.startswith(FIRST_ROLES):
            nemesis_done = True
            run.undone = undone_spans(run.faults)
        FileReader(run, path, offsets).read()
    strays, run.stray_runs = run.stray_runs, []
    for stray in strays:
        if stray[3] in run.tokens:
            run.tokens[stray[3]].runs += 1
        else:
            run.stray_runs.append(stray)
    run.ok_times.sort()
    run.faults.sort(key=lambda f: f.t)
    run.phases.sort()
    aim_faults(run)
    down_spans(run)
    for job in run.jobs.values():
        if len(job.deliveries) > 1:
            job.deliveries.sort(key=lambda d: d.claim_t)
    if offsets:  # Good enough to place database times until the dump brings an exact pair.
        run.clock = sorted(offsets)[len(offsets) // 2]
    return run


class FileReader:
    """One file, and the calls of its process that wait for an answer."""

    def __init__(self, run, path, offsets):
        self.run = run
        self.path = path
        self.offsets = offsets
        name = FILE_NAME.match(path.name)
        self.actor = run.actors.setdefault(path.stem, Actor(path.stem, name["role"], int(name["pid"])))
        self.pending = {}
        self.lost_claim_t = None  # When the first claim was sent that nobody answered.
        self.plain = {"hello": self.hello, "run": self.handler_run, "fault": self.fault, "arm": self.arm, "phase": self.phase,
                      "reached": self.reached, "violated": self.violated, "effect": self.effect, "arrival": self.arrival}
        self.begin = {"claim": self.begin_claim, "unheld": self.begin_claim, "settle": self.begin_settle, "enqueue": self.begin_enqueue,
                      "register": self.begin_register, "handback": self.begin_handback, "acquire": self.begin_acquire}
        self.end = {"claim": self.end_claim, "unheld": self.end_unheld, "settle": self.end_settle, "enqueue": self.end_enqueue, "acquire": self.end_acquire}

    def read(self):
        run, actor, plain, calls, ok_times = self.run, self.actor, self.plain, self.run.calls, self.run.ok_times
        loads = json.loads
        t = None
        with open(self.path, encoding="utf-8", errors="replace") as file:
            for text in file:
                run.lines += 1
                try:
                    line = loads(text)
                    t, op = line["t"], line["op"]
                except (ValueError, KeyError, TypeError):
                    run.torn += 1
                    continue
                if actor.first_t is None:
                    actor.first_t = t
                handle = plain.get(op)
                if handle is not None:
                    handle(t, line)
                    continue
                phase = line.get("ph")
                if phase == "call":
                    begin = self.begin.get(op)
                    self.pending[line.get("n")] = (op, begin(t, line) if begin else t)
                elif phase is not None:
                    calls[op, phase] += 1
                    if phase == "ok":
                        ok_times.append(t)
                    call = self.pending.pop(line.get("n"), None)
                    end = self.end.get(op)
                    if end is not None and call is not None:
                        end(t, call[1], phase, line)
        for op, call in self.pending.values():
            calls[op, "unanswered"] += 1
            end = self.end.get(op)
            if end is not None:
                end(None, call, "unknown", {})
        actor.last_t = t
        if t is not None:
            run.first_t = actor.first_t if run.first_t is None else min(run.first_t, actor.first_t)
            run.last_t = t if run.last_t is None else max(run.last_t, t)

    # Lines that stand for themselves.

    def hello(self, t, line):
        self.actor.role = line.get("role", self.actor.role)
        self.actor.supervisor = line.get("supervisor", line.get("ppid"))
        if "wall_ms" in line:
            self.offsets.append(line["wall_ms"] / 1000 - t / SECOND)

    def handler_run(self, t, line):
        if line.get("ph") != "start":
            return
        delivery = self.run.tokens.get(line.get("token"))
        if delivery is None:  # Handlers may write files of their own, read before their worker's.
            self.run.stray_runs.append((t, self.actor.name, line.get("job"), line.get("token")))
        else:
            delivery.runs += 1

    def fault(self, t, line):
        point, target = line.get("point"), line.get("target", line.get("pid"))
        kind = line.get("kind", line.get("action"))
        struck = self.actor if point and "kind" not in line else None
        if struck is not None:
            self.actor.points.append((t, point, kind))
        self.run.faults.append(Fault(t, kind, target, point, struck, self.actor.name, line))

    def arm(self, t, line):
        self.run.armed[line.get("point")] += line.get("count", 1)

    def phase(self, t, line):
        self.run.phases.append((t, line.get("name", "?")))

    def reached(self, t, line):
        self.run.reached[line.get("name")] += 1

    def violated(self, t, line):
        self.run.broken.append((t, self.actor.name, line.get("name")))

    def effect(self, t, line):
        key = line.get("key")
        job_id = line.get("job") or (key or "").rsplit(":", 1)[0]
        job = self.run.job(job_id)
        if job.arrivals is None:
            job.arrivals = {}
        seen = job.arrivals.setdefault(key, [0, 0])
        seen[0] += 1
        seen[1] += bool(line.get("answered", True)) and 200 <= (line.get("status") or 200) < 300
        self.run.requests.append((line.get("arrived", t), job))

    def arrival(self, t, line):
        self.run.arrivals[line.get("limit")].append((t, line.get("requests", 1), line.get("cost", 1)))

    # Calls.

    def begin_register(self, t, line):
        supervisor = line.get("supervisor")
        if supervisor:
            self.actor.supervisor = supervisor
        self.meet_worker(line.get("worker"))
        return t

    def begin_handback(self, t, line):
        """A supervisor gives back what its dead child held; other workers give back their own."""
        if line.get("worker") not in self.actor.workers:
            self.run.bosses[line.get("worker")] = self.actor
        return t

    def meet_worker(self, worker):
        if worker and worker not in self.actor.workers:
            self.actor.workers.add(worker)
            self.run.workers[worker] = self.actor

    def begin_claim(self, t, line):
        self.meet_worker(line.get("worker"))
        return t, line.get("limit")

    def end_claim(self, t, call, phase, line):
        if phase != "ok":
            if phase == "unknown" and self.lost_claim_t is None:
                self.lost_claim_t = call[0]
            return
        run, (call_t, limit), items = self.run, call, line.get("jobs", ())
        if limit is not None and len(items) > limit:
            run.overclaims.append((t, self.actor.name, limit, len(items), [i["job"] for i in items]))
        self.deliver(t, call_t, items, lambda job, token: run.double_claims.append((job.id, token)))

    def end_unheld(self, t, call, phase, line):
        """What a claim took whose answer was lost: some time since that claim was sent. What was known before is no news."""
        if phase == "ok":
            self.deliver(t, call[0] if self.lost_claim_t is None else self.lost_claim_t, line.get("jobs", ()), lambda job, token: None)
            self.lost_claim_t = call[0]  # What it did not name was taken later.

    def deliver(self, t, call_t, items, known):
        run = self.run
        undone = t in run.undone if run.undone else False
        for item in items:
            job = run.job(item["job"])
            token = item["token"]
            delivery = run.tokens.get(token)
            if delivery is not None and delivery.call_t is not None:
                known(job, token)
                continue
            if delivery is not None:  # Its settlement stands in a file that was read before.
                delivery.actor, delivery.number = self.actor, item.get("delivery")
                delivery.call_t, delivery.claim_t, delivery.undone = call_t, t, undone
                continue
            delivery = run.tokens[token] = Delivery(job, token, self.actor, item.get("delivery"), call_t, t)
            delivery.undone = undone
            if job.deliveries:
                job.deliveries.append(delivery)
            else:
                job.deliveries = [delivery]

    def begin_settle(self, t, line):
        return t, line.get("jobs", ())

    def end_settle(self, t, call, phase, line):
        call_t, items = call
        answers = None
        if phase == "ok":
            answers = match_answers(items, line.get("answers", ()))
            if self.run.undone and t in self.run.undone:
                answers = [None if a in ("settled", "already_settled", "replaced") else a for a in answers]
        elif phase == "fail":
            refused = len(items) == 1 and any(word in str(line.get("error")) for word in ("lease_lost", "MR001"))
            answers = ["lease_lost" if refused else "failed"] * len(items)
        for index, item in enumerate(items):
            delivery = self.run.tokens.get(item["token"])
            if delivery is None:
                delivery = self.unseen_claim(item, call_t)
            settle = Settle(call_t, t, item.get("outcome"), answers[index] if answers else None, self.actor)
            if delivery.settles:
                delivery.settles.append(settle)
            else:
                delivery.settles = [settle]

    def unseen_claim(self, item, t):
        """A settlement of a delivery whose claim no line tells of: kept, so that the checks can say so."""
        job = self.run.job(item["job"])
        delivery = self.run.tokens[item["token"]] = Delivery(job, item["token"], self.actor, None, None, t)
        job.deliveries = [*job.deliveries, delivery]
        return delivery

    def begin_enqueue(self, t, line):
        for name in line.get("keys", ()):
            key = self.run.keys.get(name)
            if key is None:
                key = self.run.keys[name] = Key()
            key.asked += 1
        return t, line.get("keys", ())

    def end_enqueue(self, t, call, phase, line):
        run, (_, names) = self.run, call
        if phase != "ok":
            for name in names:
                if phase == "fail":
                    run.keys[name].failed += 1
                else:
                    run.keys[name].unknown += 1
            return
        undone = t in run.undone if run.undone else False
        for item in line.get("jobs", ()):
            key = run.keys.setdefault(item["key"], Key())
            if undone:
                key.undone += 1
                continue
            job = run.job(item["job"])
            job.key = item["key"]
            if item["job"] not in key.jobs:
                key.jobs = (*key.jobs, item["job"])
            key.found = key.found or item.get("created") is False
            key.answered_t = key.answered_t or t

    def begin_acquire(self, t, line):
        return t, line.get("limit"), line.get("cost", 1)

    def end_acquire(self, t, call, phase, line):
        if phase == "ok" and line.get("granted", True):
            self.run.grants[call[1]].append((call[0] / SECOND, t / SECOND, 1, call[2]))


def match_answers(items, answers):
    """The answer of each item. Answers name jobs; a call that carries two deliveries of one job leaves theirs unknown, unless the
    answers name tokens."""
    if len(items) == 1 and len(answers) == 1:
        return [answers[0].get("answer")]
    named = {}
    for a in answers:
        name = a.get("token", a["job"])
        named[name] = None if name in named else a.get("answer")
    jobs = [i["job"] for i in items]
    twice = len(set(jobs)) < len(jobs)
    return [named[i["token"]] if i["token"] in named
            else None if twice and jobs.count(i["job"]) > 1 else named.get(i["job"]) for i in items]
