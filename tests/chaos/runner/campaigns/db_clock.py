"""The database's own clock steps by five seconds, back and forth: what it decides is late by the step, and never twice."""
import time

from nemesis.clock import FakeClock, why_not
from nemesis.postgres import Postgres

COUNTS = {"short": None, "long": {"steps": 8}, "release": {"steps": 80}}
STEP_S = 5


def run(stage):
    counts = stage.counts
    with stage.world() as world:
        reason = why_not()
        clock = None if reason else FakeClock(world, "db-clock")
        database = Postgres(world, "db", env=clock.environment() if clock else None).start()
        deployment = stage.deployment(world, database)
        for _ in range(3):
            deployment.worker(keeper=True)
        deployment.producer(rate=40)
        world.history.phase("load")
        for n in range(0 if reason else counts["steps"]):
            # Back: leases last longer by the step. Forth: they end at once, also those of workers that are well.
            clock.step(-STEP_S if n % 2 == 0 else 0)
            time.sleep(0.2 + stage.random.random())
            victim = stage.random.choice(deployment.workers)
            victim.kill()
            deployment.replace(victim, keeper=True)
            time.sleep(STEP_S if n % 2 == 0 else 2)  # As long as the step can last.
            stage.progress(n + 1, counts["steps"])
        verdict = stage.finish(deployment, {"steps": 0 if reason else counts["steps"]}, recovery_margin_ms=1500 + STEP_S * 1000)
        verdict.check("T12", "the database's clock could be changed", not reason, reason or f"{counts['steps']} steps of {STEP_S} s")
        return verdict
