#!/usr/bin/env python3
"""A whole synthetic run: load, kills, pauses, an outage and recovery in virtual time. To look at the report and to time the checker:

    python3 synthetic_load.py DIRECTORY --jobs 20000 --seed 7 --broken
    python3 -m proof check DIRECTORY --report
"""
import argparse
import heapq

from synthetic_run import MS, SECOND, World

POINTS = ["claim.before", "claim.after_send", "claim.after", "settle.before", "settle.after_send", "settle.after", "beat.after_send", "beat.after",
          "release.after_send", "reclaim.after_send", "promote.after", "enqueue.after_send", "exec.started", "http.sent", "retire.before"]
LEASE_MS = 1000


class Worker:
    def __init__(self, load, supervised):
        self.load = load
        self.supervised = supervised
        self.held = []  # (done at, delivery)
        self.alive = True
        self.stopped_until = None
        hello = {"supervisor": load.supervisor.name} if supervised else {}
        self.process = load.world.process("worker", **hello)


class Load:
    def __init__(self, seed, jobs, per_second):
        self.world = World(seed)
        self.random = self.world.random
        self.jobs, self.per_second = jobs, per_second
        self.supervisor = self.world.process("supervisor")
        self.producer = self.world.process("producer")
        self.ready = []
        self.due = []  # (time, order, what)
        self.order = 0
        self.down = False
        self.sent = 0
        self.workers = [Worker(self, n >= 6) for n in range(8)]

    def at(self, delay_ms, what):
        self.order += 1
        heapq.heappush(self.due, (self.world.now + int(delay_ms * MS), self.order, what))

    def run(self):
        world = self.world
        world.phase("load")
        seconds = self.jobs / self.per_second
        for n in range(int(seconds / 0.6)):
            self.at(1000 + n * 600 + self.random.randrange(300), self.strike)
        self.at(seconds * 420, self.crash)
        began = world.now
        while self.sent < self.jobs or self.due or self.ready or any(w.held for w in self.workers):
            self.step(began)
        world.advance(500)
        world.phase("recovered")

    def step(self, began):
        world = self.world
        end = world.now + 20 * MS
        while self.due and self.due[0][0] <= world.now:
            heapq.heappop(self.due)[2]()
        target = min(self.jobs, int((world.now - began) / SECOND * self.per_second))
        if self.sent < self.jobs <= target:
            world.phase("heal")
        if target > self.sent and not self.down:
            keys = [f"k{n}" for n in range(self.sent, target)]
            made = world.enqueue(self.producer, *keys, expect="completed")
            self.ready += made if isinstance(made, list) else [made]
            self.sent = target
        self.random.shuffle(self.workers)
        for worker in self.workers:
            self.serve(worker)
        world.now = max(world.now + MS, end)

    def serve(self, worker):
        world = self.world
        if not worker.alive or (worker.stopped_until or 0) > world.now or self.down:
            return
        done = [d for t, d in worker.held if t <= world.now]
        if done:
            worker.held = [(t, d) for t, d in worker.held if t > world.now]
            outcome = "retry" if self.random.random() < 0.03 else "ok"
            if self.random.random() < 0.01:
                world.settle(*done, outcome=outcome, phase="unknown")
            answers = world.settle(*done, outcome=outcome)
            for delivery, answer in zip(done, answers if isinstance(answers, list) else [answers]):
                delivery.worker.write("run", ph="end", job=delivery.job, token=delivery.token, outcome=outcome)
                if outcome == "retry" and answer in ("settled", "already_settled"):
                    self.ready.append(delivery.job)
        free = 12 - len(worker.held)
        if free > 0 and self.ready:
            jobs, self.ready = self.ready[:free], self.ready[free:]
            claimed = world.claim(worker.process, *dict.fromkeys(jobs), limit=free)
            for delivery in claimed if isinstance(claimed, list) else [claimed]:
                worker.held.append((world.now + self.random.choice([20, 40, 80, 200]) * MS, delivery))
                delivery.worker.write("run", ph="start", job=delivery.job, token=delivery.token, delivery=delivery.number, attempt=1)

    def strike(self):
        world = self.world
        candidates = [w for w in self.workers if w.alive and not w.stopped_until]
        if not candidates or self.down:
            return
        victim = self.random.choice(candidates)
        kind = self.random.choice(["kill", "kill", "point", "stop"])
        if kind == "stop" and not victim.supervised:
            world.fault("stop", victim.process)
            pause = LEASE_MS + self.random.randrange(800, 1500)
            victim.stopped_until = world.now + pause * MS
            self.at(pause, lambda: self.wake(victim))
            self.at(LEASE_MS + self.random.randrange(50, 700), lambda: self.reclaim(victim))
            return
        if kind == "point":
            point = self.random.choice(POINTS)
            world.nemesis.write("arm", point=point, action="kill", target=victim.process.name)
            world.hit(victim.process, point)
        else:
            world.kill(victim.process)
        victim.alive = False
        delay = self.random.randrange(30, 260) if victim.supervised else LEASE_MS + self.random.randrange(-300, 700)
        self.at(delay, lambda: self.reclaim(victim))
        self.at(300, lambda: self.replace(victim))

    def replace(self, victim):
        self.workers[self.workers.index(victim)] = Worker(self, victim.supervised)

    def wake(self, victim):
        self.world.fault("cont", victim.process)
        victim.stopped_until = None

    def reclaim(self, victim):
        if self.down:
            self.at(200, lambda: self.reclaim(victim))
            return
        lost = [d.job for _, d in victim.held if self.world.jobs[d.job]["token"] == d.token and self.world.jobs[d.job]["place"] == "lease"]
        if lost:
            self.world.reclaim(*lost)
            self.ready = lost + self.ready
        if not victim.alive:
            victim.held = []

    def crash(self):
        self.world.fault("pg_crash")
        self.down = True
        self.at(1800, self.restore)

    def restore(self):
        self.world.fault("pg_up")
        self.down = False


def break_promises(world):
    """A few lies, so that a reader can see what they look like."""
    world.ledger.append(dict(world.ledger[len(world.ledger) // 3]))
    world.audit[-1]["jobs"] = world.audit[-1]["jobs"][1:]
    innocent = world.enqueue(world.process("producer"), "innocent")
    for _ in range(3):
        worker = world.process("worker")
        world.work(world.claim(worker, innocent), end=False)
        world.kill(worker)
        world.advance(LEASE_MS)
        world.reclaim(innocent)
    world.jobs[innocent].update(place="history", status="failed", reason="poison", token=world.attempts[-1]["token"], finished_at=world.wall())
    world.audit[-1]["action"] = "failed"
    zombie = next(a for a in world.attempts if a["outcome"] == "lost")
    worker = next(p for p in world.processes if p.name == zombie["worker_id"])
    number = worker.call("settle", worker=worker.name, jobs=[{"job": zombie["job_id"], "token": zombie["token"], "outcome": "ok"}])
    worker.end("settle", number, "ok", answers=[{"job": zombie["job_id"], "answer": "settled"}])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--jobs", type=int, default=9000)
    parser.add_argument("--per-second", type=int, default=240)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--broken", action="store_true", help="break some promises")
    arguments = parser.parse_args()
    load = Load(arguments.seed, arguments.jobs, arguments.per_second)
    load.run()
    if arguments.broken:
        break_promises(load.world)
    load.world.write(arguments.directory, seed=arguments.seed, profile="synthetic", lease_ms=LEASE_MS, conditions={
        "workers": "6 alone, 2 under a supervisor", "load": f"{arguments.per_second} jobs/s", "database": "a model, not PostgreSQL"})
    lines = sum(len(p.lines) for p in load.world.processes)
    print(f"{arguments.directory}: {len(load.world.jobs)} jobs, {lines} lines of {len(load.world.processes)} processes")


if __name__ == "__main__":
    main()
