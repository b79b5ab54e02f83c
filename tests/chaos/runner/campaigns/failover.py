"""Fail-over between a primary and its standbys, under load: nothing may be lost with a synchronous one, and what an asynchronous one
loses is bounded by its lag and reported; in both cases nobody who held a lease before may change anything after.
"""
import time

from nemesis.replication import Replication

COUNTS = {"short": {"sync": 1, "async": 0}, "long": {"sync": 10, "async": 10}, "release": {"sync": 50, "async": 50}}


def run(stage):
    counts = stage.counts
    with stage.world() as world:
        cluster = Replication(world).start()
        deployment = stage.deployment(world, database=cluster)
        for i in range(4):
            deployment.worker(keeper=i < 2)
        deployment.producer(rate=40)
        world.history.phase("load")
        plan = ["sync"] * counts["sync"] + ["async"] * counts["async"]
        stage.random.shuffle(plan)
        lost = {"sync": 0, "async": 0}
        slowest, beyond = 0.0, 0
        for n, mode in enumerate(plan):
            time.sleep(0.5 + stage.random.random())  # Load before the next one.
            held = mode == "async" and stage.random.random() < 0.5
            if held:
                cluster.hold_async()
                time.sleep(0.3 + stage.random.random() * 0.5)
            serving = 0.7 if mode == "async" and stage.random.random() < 0.3 else 0.0
            result = cluster.fail_over(mode, keep_old_serving=serving)
            if held:
                cluster.release_async()
            reported = cluster.report_losses(result)
            lost[mode] += len(reported["keys"])
            beyond += len(reported["outside_lag"])
            slowest = max(slowest, result.seconds)
            time.sleep(0.8)
            cluster.rejoin()
            stage.progress(n + 1, len(plan), f"{mode}: new primary after {result.seconds:.2f} s, lag {result.lag_ms:.0f} ms")
        time.sleep(1.0)
        verdict = stage.finish(deployment, {"fail_overs": len(plan), "reported_losses_async": lost["async"], "slowest_promotion_s": round(slowest, 2)}, patience=60)
        verdict.check("T5", "a synchronous standby loses nothing", lost["sync"] == 0, f"{counts['sync']} fail-overs, {lost['sync']} keys lost")
        verdict.check("T5", "an asynchronous one loses no more than its lag", beyond == 0,
                      f"{counts['async']} fail-overs, {lost['async']} keys lost and reported, {beyond} older than the lag")
        return verdict
