"""Random killer: many worker processes, one killed at a time, at an even pace, while documents of five stages flow."""
import time

ALONE = True  # Its judgement is about time.
# Ten processes a second plan their first calls: on two cores that leaves room for no more than this load if recovery is to be judged by the clock.
COUNTS = {
    "short": {"processes": 4, "slots": 32, "seconds": 8, "every_ms": 500, "rate": 40},
    "long": {"processes": 16, "slots": 32, "seconds": 600, "every_ms": 100, "rate": 24},
    "release": {"processes": 16, "slots": 32, "seconds": 3600, "every_ms": 100, "rate": 24},
}


def run(stage):
    counts = stage.counts
    with stage.world() as world:
        deployment = stage.deployment(world)
        # Some of the victims are keepers: recovery must not depend on who dies.
        start = {"slots": counts["slots"]}
        workers = [deployment.worker(keeper=i % 4 == 0, **start) for i in range(counts["processes"])]
        producers = [deployment.producer(rate=counts["rate"] / 2) for _ in range(2)]
        world.history.phase("load")
        began, kills = time.monotonic(), 0
        while (elapsed := time.monotonic() - began) < counts["seconds"]:
            victim = stage.random.randrange(len(workers))
            keeper = workers[victim].argv[-1] == "keeper"
            workers[victim].kill()
            workers[victim] = deployment.replace(workers[victim], keeper=keeper, **start)
            kills += 1
            stage.progress(int(elapsed), counts["seconds"], f"{kills} kills")
            time.sleep(max(0.0, began + kills * counts["every_ms"] / 1000 - time.monotonic()))
        stage.progress(counts["seconds"], counts["seconds"], f"{kills} kills")
        assert all(p.alive for p in producers), "a producer died"
        return stage.finish(deployment, {"kills": kills, "jobs": deployment.number("select count(*) from millrace.job_fact")})
