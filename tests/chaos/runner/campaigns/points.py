"""Crash points: for every fault point of the program, processes that are killed exactly there, again and again, under load.

A point belongs to a scenario: the kind of process that passes it, and what makes it pass. Each trial starts such a process with the
point armed and waits for its death. What it held must be recovered by the others; the judgement is over all of it together.
"""
import concurrent.futures
import pathlib
import signal
import time

from ..scenarios import SCENARIOS, scenario_of, start_product

COUNTS = {"short": {"kills": 1, "share": 0.12, "at_once": 6}, "long": {"kills": 20, "share": 1, "at_once": 10},
          "release": {"kills": 1000, "share": 1, "at_once": 8}}
LIST = pathlib.Path(__file__).resolve().parents[2] / "fault_points.txt"


# No process of these campaigns passes them: the tests of the server kill it there (tests/server).
# Those of documents, exports and ingest are passed by workers that have some: tests/integration/*_kills_pg_test and parse_remote_pg_test kill one at each of them, the campaigns of documents and ingest wherever they are.
ELSEWHERE = ("src/api/", "src/app/serve/", "src/store/api/", "src/store/document_store.cpp", "src/store/export_work.cpp", "src/store/ingest_store.cpp", "src/store/parse_store.cpp",
             "src/pipeline/")


def all_points():
    lines = (line.split() for line in LIST.read_text().splitlines())
    return sorted({words[1] for words in lines if words and words[0] == "point" and not words[2].startswith(ELSEWHERE)})


TRIES = 25
IDLE_MAX = 10  # Some points are passed by one job in twelve only, and ten processes share the jobs.


def trial(stage, deployment, scenario, point, number):
    """True when a process died at the point. One that ended in order without passing it (it was not elected, somebody else took the
    job), or found nothing to do for long, gives way to another."""
    deployment.world.history.write("arm", point=point, count=1)
    idle = 0
    for attempt in range(TRIES):
        hit, ended = once(stage, deployment, scenario, point, f"at-{scenario.name}-{number}-{attempt}")
        idle += not ended
        if hit or idle == IDLE_MAX:
            return hit
    return False


def once(stage, deployment, scenario, point, name):
    """Whether it died at the point, and whether it ended at all."""
    process = scenario.start(deployment, name, scenario.plan(point, stage.random))
    try:
        deadline = time.monotonic() + scenario.patience
        if scenario.provoke and not process.ended_within(scenario.provoke_after):
            scenario.provoke(process)
        if not process.ended_within(max(0.0, deadline - time.monotonic())):
            return False, False
        hit = process.wait() == -signal.SIGKILL
        if hit and scenario.writes_elsewhere:
            deployment.world.history.fault("kill", process.name, point=point, pid=process.pid)
        return hit, True
    finally:
        deployment.forget(process)
        if process.alive:
            process.kill(tree=True)  # Written down: what it holds is lost now.
        scenario.afterwards(deployment, process)


def attack(stage, keepers):
    """Points of the keeper's duties are passed by whoever is elected, so nobody else may stand for it in that half (keepers=False)."""
    counts = stage.counts
    points = [p for p in all_points() if scenario_of(p).needs_no_keeper != keepers]
    if counts["share"] < 1:
        points = sorted(stage.random.sample(points, int(len(points) * counts["share"])))
    with stage.world() as world:
        deployment = stage.deployment(world)
        for scenario in SCENARIOS.values():
            scenario.prepare(deployment)
        # Enough that every process finds work; most of the machine is for the trials.
        for _ in range(2):
            deployment.producer(rate=6)
        for _ in range(2):
            deployment.worker(keeper=keepers, slots=8)
        deployment.workers.append(start_product("chaos.exec", "none")(deployment, "outside", None))
        world.history.phase("load")
        missed = []
        # In any order: the scenarios that take long, or share what there is little of, do not stand in line for each other.
        trials = [p for _ in range(counts["kills"]) for p in points]
        stage.random.shuffle(trials)
        plans = [(point, number) for number, point in enumerate(trials, 1)]

        def one(plan):
            return plan[0], trial(stage, deployment, scenario_of(plan[0]), *plan)

        with concurrent.futures.ThreadPoolExecutor(counts["at_once"] if keepers else 3) as pool:
            jobs = [pool.submit(one, plan) for plan in plans]
            try:
                for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
                    point, hit = job.result()
                    if not hit:
                        missed.append(point)
                    stage.progress(done, len(plans), f"{len(missed)} not reached")
            except Exception:
                pool.shutdown(cancel_futures=True)
                raise
        if not keepers:
            for _ in range(2):
                deployment.worker(keeper=True)
        # Without a keeper nobody recovers anything: in that half only the end counts.
        margin = {} if keepers else {"recovery_margin_ms": 600_000}
        # One trial per point, on a machine that may be busy: that a point was not met in time says nothing there.
        strict = stage.options.profile != "short"
        verdict = stage.finish(deployment, {"points": len(points), "kills_per_point": counts["kills"], "trials": len(plans), "not_reached": len(missed)},
                               points=points if strict else None, **margin)
        verdict.check("T1", "every trial died at its point", not missed or (not strict and len(missed) < len(plans)), f"{len(plans)} trials, not reached: {sorted(set(missed))[:8]}")
        return verdict


def run(stage):
    return attack(stage, keepers=True)
