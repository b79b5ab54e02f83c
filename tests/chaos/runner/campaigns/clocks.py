"""Application clocks that are wrong by an hour, step, or stand still: only the database's clock may decide anything."""
import time

from nemesis.clock import FakeClock, why_not

COUNTS = {"short": {"steps": 6}, "long": {"steps": 60}, "release": {"steps": 600}}


def run(stage):
    counts = stage.counts
    with stage.world() as world:
        deployment = stage.deployment(world)
        reason = why_not()
        clocks = []
        for i in range(4):
            clock = None if reason else FakeClock(world, f"clock-{i}")
            clocks.append(clock)
            deployment.worker(f"worker-c{i}", keeper=i < 2, env=clock.environment() if clock else None)
        deployment.producer(rate=50)
        world.history.phase("load")
        victim = None
        for n in range(0 if reason else counts["steps"]):
            clock = stage.random.choice(clocks)
            what = stage.random.choice(("ahead", "behind", "freeze", "heal"))
            if what == "freeze":
                clock.freeze()
            elif what == "heal":
                clock.heal()
            else:
                clock.step(3600 if what == "ahead" else -3600)
            if n % 5 == 4:  # A death among wrong clocks: recovery must not be any later.
                victim = stage.random.choice(deployment.workers)
                victim.kill()
                victim.restart()
            time.sleep(0.4)
            stage.progress(n + 1, counts["steps"], what)
        for clock in filter(None, clocks):
            clock.heal()
        verdict = stage.finish(deployment, {"steps": 0 if reason else counts["steps"]})
        verdict.check("T12", "clocks could be changed", not reason, reason or f"{counts['steps']} steps of an hour, freezes and healings")
        return verdict
