"""The database's volume fills up under load and is freed again: clear errors, nothing acknowledged is lost, work resumes by itself."""
import time

from nemesis.disk import FullDisk, why_not

COUNTS = {"short": None, "long": {"times": 10}, "release": {"times": 50}}


def run(stage):
    counts = stage.counts
    reason = why_not()
    with stage.world() as world:
        if reason:
            deployment = stage.deployment(world)
            deployment.worker(keeper=True)
            deployment.producer(rate=20, seconds=1)
            verdict = stage.finish(deployment, {"times": 0})
            verdict.check("T28", "a small volume could be made", True, f"skipped: {reason}")
            return verdict
        disk = FullDisk(world, size_mb=400).start()
        deployment = stage.deployment(world, database=disk.database)
        for i in range(3):
            deployment.worker(keeper=i < 2)
        deployment.producer(rate=40)
        world.history.phase("load")
        fates = {}
        for n in range(counts["times"]):
            time.sleep(1.0)
            disk.fill(leave_kb=stage.random.choice((0, 64, 512)))
            down = disk.wait_until_down(2.5)
            disk.free()
            fate = disk.revive()
            fates[fate] = fates.get(fate, 0) + 1
            stage.progress(n + 1, counts["times"], f"{'down' if down else 'up'}, {fate}")
        time.sleep(1.0)
        return stage.finish(deployment, {"times": counts["times"], "server": fates}, patience=60)
