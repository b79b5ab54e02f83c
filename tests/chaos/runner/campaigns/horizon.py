"""An open snapshot holds back vacuum for minutes while work goes on: throughput must stay, and the backlog must be gone soon after."""
import time

ALONE = True  # Its judgement is about time.
COUNTS = {"short": None, "long": {"seconds": 120, "rate": 400}, "release": {"seconds": 600, "rate": 1000}}


def settled(deployment):
    return deployment.number("select count(*) from millrace.job_place where place = 'history'")


def measure(stage, deployment, seconds, text):
    began, before = time.monotonic(), settled(deployment)
    while (elapsed := time.monotonic() - began) < seconds:
        stage.progress(int(elapsed), seconds, text)
        time.sleep(0.5)
    return (settled(deployment) - before) / (time.monotonic() - began)


def run(stage):
    counts = stage.counts
    with stage.world() as world:
        deployment = stage.deployment(world)
        for i in range(3):
            deployment.worker(keeper=i < 2, slots=64)
        for _ in range(2):
            deployment.producer(rate=counts["rate"] / 2, batch=100)
        world.history.phase("load")
        measure(stage, deployment, 10, "warm-up")
        baseline = measure(stage, deployment, 20, "baseline")
        holder = deployment.database.connect(timeout=counts["seconds"] + 60)
        holder.value("begin isolation level repeatable read; select count(*) from millrace.job_fact")
        world.history.fault("snapshot", "held")
        held = measure(stage, deployment, counts["seconds"], "snapshot held")
        holder.close()
        world.history.fault("snapshot_released", "held")
        verdict = stage.finish(deployment, {"baseline_per_s": round(baseline, 1), "held_per_s": round(held, 1)}, patience=60, recovery_by="reclaim")
        verdict.check("T13", "throughput with a held snapshot is at least 80 % of the baseline", held >= 0.8 * baseline, f"{held:.0f}/s of {baseline:.0f}/s")
        # Not by the clock around finish(): that includes judging hundreds of thousands of lines.
        settled_after = verdict.run["conditions"].get("settled_after_s")
        verdict.check("T13", "the backlog is gone within 60 s", settled_after is not None and settled_after < 60, f"{settled_after} s")
        return verdict
