"""Zombies: workers that stand still for longer than their lease and then go on as if nothing had happened.

Half are stopped from outside at a random moment, half stop themselves at the worst one: after the handler has done its work and
before, or while, its result is recorded.
"""
import concurrent.futures
import os
import time

ALONE = True  # Its judgement is about time.
COUNTS = {"short": {"zombies": 6, "at_once": 6}, "long": {"zombies": 300, "at_once": 8}, "release": {"zombies": 1000, "at_once": 8}}
WORST = ("settle.before", "settle.after_send", "settle_with.before", "settle_with.after_send", "settle_with.after", "run.after", "claim.after_send", "beat.before")


def stopped(process, timeout):
    """Waits until the process has stopped itself; False when it ended or never did."""
    poller = time.monotonic() + timeout
    while time.monotonic() < poller:
        try:
            with open(f"/proc/{process.pid}/stat") as file:
                if file.read().rsplit(")", 1)[1].split()[0] in "Tt":
                    return True
        except FileNotFoundError:
            return False
        if process.ended_within(0.02):
            return False
    return False


def one(stage, deployment, number, point, nth, seconds):
    """A worker of its own lives through one long pause and works on for a while."""
    fault = f"{point}=stop@{nth}" if point else None
    worker = deployment.worker(f"zombie-{number}", slots=4, fault=fault)
    try:
        if point:
            if not stopped(worker, 20):
                return False
            deployment.world.history.fault("stop", worker.name, pid=worker.pid)
            worker.ended_within(seconds)
            worker.cont()
        else:
            worker.ended_within(0.3 + nth / 10)
            worker.zombie(seconds)
        worker.ended_within(0.7)
        return worker.alive
    finally:
        deployment.forget(worker)
        if worker.alive and worker.terminate(20) is None:
            worker.kill()


def run(stage):
    counts = stage.counts
    with stage.world() as world:
        deployment = stage.deployment(world)
        for _ in range(2):
            deployment.worker(keeper=True)
        for _ in range(2):
            deployment.producer(rate=35)
        world.history.phase("load")
        lease = deployment.lease_ms / 1000
        plans = [(n, WORST[n // 2 % len(WORST)] if n % 2 else None, stage.random.randrange(1, 6), lease * (1.3 + stage.random.random() * 1.5))
                 for n in range(counts["zombies"])]
        lived = 0
        with concurrent.futures.ThreadPoolExecutor(counts["at_once"]) as pool:
            for done, survived in enumerate(pool.map(lambda plan: one(stage, deployment, *plan), plans), 1):
                lived += survived
                stage.progress(done, len(plans), f"{lived} woke up again")
        return stage.finish(deployment, {"zombies": len(plans), "woke_up": lived})
