"""Graceful stop under load: SIGTERM ends a worker without charging anybody an attempt, and soon."""
import time

COUNTS = {"short": {"stops": 5}, "long": {"stops": 50}, "release": {"stops": 500}}


def run(stage):
    counts = stage.counts
    with stage.world() as world:
        # Nobody dies here: with long leases a lost delivery can only be the fault of a stop, however busy the machine is.
        deployment = stage.deployment(world, lease_ms=20_000)
        deployment.sql("""select millrace.set_queue('chaos', '{"lease": "20 s"}')""")
        for _ in range(2):
            deployment.worker(keeper=True)
        for _ in range(2):
            deployment.producer(rate=40)
        world.history.phase("load")
        slowest, wrong = 0.0, 0
        for n in range(counts["stops"]):
            # Every other one has no time for what runs: that is stopped and handed back.
            worker = deployment.worker(slots=8, env={"CHAOS_DRAIN_MS": "50"} if n % 2 else None)
            time.sleep(0.2 + stage.random.random() * 0.6)  # Somewhere in its work.
            began = time.monotonic()
            wrong += worker.terminate(40) != 0
            slowest = max(slowest, time.monotonic() - began)
            deployment.forget(worker)
            stage.progress(n + 1, counts["stops"], f"slowest {slowest:.2f} s")
        verdict = stage.finish(deployment, {"stops": counts["stops"], "slowest_stop_s": round(slowest, 2)})
        charged = deployment.number("select count(*) from millrace.attempt where outcome = 'lost'")
        verdict.check("T29", "a stop charges no attempt and loses no delivery", charged == 0, f"{charged} deliveries lost")
        verdict.check("T29", "every stop ended orderly within the drain time", wrong == 0 and (slowest < 30 or stage.options.profile == "short"), f"{wrong} wrong, slowest {slowest:.1f} s")
        return verdict
