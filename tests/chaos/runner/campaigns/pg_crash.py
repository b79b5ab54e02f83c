"""PostgreSQL dies under load: its postmaster, the whole machine, or an immediate stop; then it comes back."""
import time

ALONE = True  # Its judgement is about time.
COUNTS = {"short": {"crashes": 2}, "long": {"crashes": 50}, "release": {"crashes": 200}}


def run(stage):
    counts = stage.counts
    with stage.world() as world:
        deployment = stage.deployment(world)
        database = deployment.database
        for i in range(4):
            deployment.worker(keeper=i < 2)
        deployment.producer(rate=50)
        world.history.phase("load")
        for n in range(counts["crashes"]):
            time.sleep(0.3 + stage.random.random())  # Load between the crashes, not synchronisation.
            how = stage.random.choice(("postmaster", "machine", "immediate"))
            if how == "immediate":
                database.stop_immediate()
            else:
                database.crash(children_too=how == "machine")
            time.sleep(stage.random.choice((0.0, 0.2, 1.5)))  # Sometimes longer than the lease.
            up = database.restart()
            stage.progress(n + 1, counts["crashes"], f"{how}, back after {up.seconds:.2f} s")
        time.sleep(1.5)
        return stage.finish(deployment, {"crashes": counts["crashes"]})
