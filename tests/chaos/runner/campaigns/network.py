"""The network between programs and database: stalled, delayed, cut, half-open, reset, and cut exactly around COMMIT.

Workers and one producer go through the gate; another pair does not, so that work goes on while the line is broken.
"""
import time

from nemesis.gate import Gate

COUNTS = {"short": {"faults": 9}, "long": {"faults": 330}, "release": {"faults": 1000}}
COMMITS = ("settle_jobs", "claim_jobs", "enqueue_jobs", "insert into public.ledger", "beat_worker")
OTHERS = ("stall", "delay", "half_open", "half_open_all", "cut", "reset", "refuse")


def commits_cut(gate):
    counts = gate.counts()
    return counts["commit_after"] + counts["commit_before"]


def inject(gate, kind, random, cut_so_far):
    """One fault from its beginning to its healing."""
    if kind.startswith("commit"):
        point, how = random.choice(("after", "after", "before")), random.choice(("reset", "cut", "silent"))
        gate.cut_commit(point, match=random.choice(COMMITS), skip=random.randrange(0, 4), how=how)
        try:
            gate.wait_for_commit_cuts(cut_so_far + 1, timeout=5)
        finally:
            gate.disarm()
        return
    if kind == "delay":
        gate.delay(random.choice((5, 50, 400)))
        time.sleep(0.8)
    elif kind == "half_open_all":
        gate.half_open(new="drop")
        time.sleep(random.choice((0.5, 2.5)))
    else:
        getattr(gate, kind)()
        time.sleep({"stall": random.choice((0.3, 2.5)), "refuse": random.choice((0.2, 1.5))}.get(kind, 0.1))
    gate.heal()


def run(stage):
    counts = stage.counts
    with stage.world() as world:
        deployment = stage.deployment(world)
        gate = Gate(world, deployment.database.socket_path).start()
        for i in range(2):
            deployment.worker(keeper=i == 0)
        for i in range(3):
            deployment.worker(keeper=i == 0, url=gate.url())
        deployment.producer(rate=20)
        deployment.producer(rate=40, url=gate.url())
        world.history.phase("load")
        missed = 0
        for n in range(counts["faults"]):
            # Two of three are cuts around COMMIT: the one that matters most.
            kind = "commit" if n % 3 else OTHERS[n // 3 % len(OTHERS)]
            cut = commits_cut(gate) if kind == "commit" else 0
            try:
                inject(gate, kind, stage.random, cut)
            except Exception as error:  # The statement that was to be cut did not come by.
                missed += 1
                world.history.write("note", text=f"{kind}: {error}")
            time.sleep(0.05 + 0.2 * stage.random.random())
            stage.progress(n + 1, counts["faults"], kind)
        gate.heal()
        figures = {"faults": counts["faults"], "did_not_strike": missed} | {f"gate_{k}": v for k, v in gate.counts().items() if isinstance(v, int)}
        verdict = stage.finish(deployment, figures, patience=60)
        verdict.check("T6", "faults struck", missed <= (counts["faults"] // 5 if stage.options.profile != "short" else counts["faults"] // 2), f"{counts['faults'] - missed} of {counts['faults']}")
        return verdict
