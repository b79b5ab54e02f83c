"""Three times what the workers can do, against a bounded queue: the extra is refused, nothing accepted is lost, and it ends."""
import json
import time

ALONE = True  # Its judgement is about time.
COUNTS = {"short": {"seconds": 4}, "long": {"seconds": 60}, "release": {"seconds": 1800}}
DEPTH = 400


def run(stage):
    counts = stage.counts
    with stage.world() as world:
        deployment = stage.deployment(world)
        deployment.sql(f"select millrace.set_queue('chaos', '{json.dumps({'depth_max': DEPTH})}')")
        for i in range(2):
            deployment.worker(keeper=True, slots=4)
        producers = [deployment.producer(rate=120, batch=10) for _ in range(3)]
        world.history.phase("load")
        deepest, began = 0, time.monotonic()
        while (elapsed := time.monotonic() - began) < counts["seconds"]:
            deepest = max(deepest, deployment.live())
            stage.progress(int(elapsed), counts["seconds"], f"depth {deepest}")
            time.sleep(0.25)
        assert all(p.alive for p in producers), "a producer died"
        ended = deployment.number("select count(*) from millrace.job_place where place = 'history'")
        verdict = stage.finish(deployment, {"deepest": deepest, "ended_per_s": round(ended / counts["seconds"], 1)}, patience=60, recovery_by="reclaim")
        # Stages of accepted documents are let in whatever the depth: work under way must be able to end.
        verdict.check("T17", "the depth stays bounded", deepest <= DEPTH * 1.5, f"at most {deepest}, limit {DEPTH}")
        return verdict
