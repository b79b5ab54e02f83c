"""Crash points: for every fault point of the program, processes that are killed exactly there, again and again, under load.

A point belongs to a scenario: the kind of process that passes it, and what makes it pass. Each trial starts such a process with the
point armed and waits for its death. What it held must be recovered by the others; the judgement is over all of it together.
"""
import concurrent.futures
import pathlib
import select
import signal
import time

from ..scenarios import SCENARIOS, scenario_of

COUNTS = {"short": {"kills": 1, "share": 0.25, "at_once": 6}, "long": {"kills": 20, "share": 1, "at_once": 8},
          "release": {"kills": 1000, "share": 1, "at_once": 8}}
LIST = pathlib.Path(__file__).resolve().parents[2] / "fault_points.txt"


def all_points():
    lines = (line.split() for line in LIST.read_text().splitlines())
    return sorted({words[1] for words in lines if words and words[0] == "point"})


def trial(stage, deployment, scenario, point, number):
    """True when a process died at the point."""
    plan = scenario.plan(point, stage.random)
    deployment.world.history.write("arm", point=point, count=1)
    process = scenario.start(deployment, f"{scenario.name}-{number}", plan)
    try:
        deadline = time.monotonic() + scenario.patience
        if scenario.provoke and not select.select([process.pidfd], [], [], scenario.provoke_after)[0]:
            scenario.provoke(process)
        while not select.select([process.pidfd], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return False
        return process.wait() == -signal.SIGKILL or scenario.died(deployment, process)
    finally:
        deployment.forget(process)
        if process.alive:
            process.end()


def run(stage):
    counts = stage.counts
    points = all_points()
    if counts["share"] < 1:
        points = sorted(stage.random.sample(points, int(len(points) * counts["share"])))
    with stage.world() as world:
        deployment = stage.deployment(world)
        for scenario in SCENARIOS.values():
            scenario.prepare(deployment)
        for _ in range(3):
            deployment.producer(rate=25)
        world.history.phase("load")
        missed, done, number = [], 0, 0
        total = len(points) * counts["kills"]
        for alone in (False, True):
            # Duties of the keeper are passed by whoever is elected, so nobody else may stand for it in that half.
            mine = [p for p in points if scenario_of(p).needs_no_keeper == alone]
            helpers = [deployment.worker(keeper=not alone) for _ in range(3)]
            plans = [(point, number := number + 1) for _ in range(counts["kills"]) for point in mine]
            at_once = 3 if alone else counts["at_once"]
            with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
                def one(plan):
                    return plan[0], trial(stage, deployment, scenario_of(plan[0]), *plan)
                for point, hit in pool.map(one, plans):
                    done += 1
                    if not hit:
                        missed.append(point)
                    stage.progress(done, total, f"{len(missed)} not reached")
            for helper in helpers:
                deployment.forget(helper)
                helper.terminate(20)
        for _ in range(3):
            deployment.worker(keeper=True)
        verdict = stage.finish(deployment, {"points": len(points), "kills_per_point": counts["kills"], "trials": total, "not_reached": len(missed)},
                               points=points)
        verdict.check("T1", "every trial died at its point", not missed, f"{total} trials, not reached: {sorted(set(missed))[:8]}")
        return verdict
