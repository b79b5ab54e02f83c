"""A little of everything at once: deaths, zombies, lost answers, and a provider whose limit binds. Short, and every kind of violation that
the checker knows would show: the runs of wrong engines (tests/mutants/chaos) are runs of this one."""
import pathlib
import time

from ..scenarios import enqueue_outside
from .zombies import stopped

COUNTS = {"short": None, "long": {"seconds": 12}, "release": {"seconds": 60}}
LIMIT = '{"requests_per_minute": 20, "minute_window": "3 s"}'
TOML = """
[[handler]]
type = "chaos.limited"
run = "noop"
queue = "limited"
"""
LOST_ANSWERS = ("claim.after_send=drop@2", "claim.after_send=drop@3", "settle_with.after_send=drop@2", "settle_with.after_send=drop@4",
                "settle.after_send=drop@2")
# What this campaign always comes upon: claims and settlements whose answers were lost, results of those who had lost their lease.
SOMETIMES = ["claim_answer_lost", "unheld_leases_found", "settlement_fenced", "effects_repeated_in_doubt"]


def limited(deployment):
    """A worker of the product, whose jobs need a provider."""
    deployment.sql(f"select millrace.set_limit('stand-in', 'work', '{LIMIT}')")
    deployment.sql("""select millrace.set_queue('limited', '{"max_attempts": 50}')""")
    deployment.sql("""select millrace.set_job_type('chaos.limited', '{"queue": "limited", "provider": "stand-in:work"}')""")
    folder = deployment.world.dir / "product"
    folder.mkdir(exist_ok=True)
    (folder / "millrace.toml").write_text(TOML)
    ready = folder / "limited.ready"
    argv = [deployment.world.program("millrace"), "--database-url", deployment.url, "--config", folder / "millrace.toml", "worker",
            "--queue", "limited", "--slots", "8", "--lease", "5s", "--no-keeper", "--ready-file", ready]
    deployment.workers.append(deployment.world.processes.start("limited", argv, cwd=folder, ready_file=ready))
    enqueue_outside(deployment, "limited", "chaos.limited", "none", 60)


HOLDERS = "(select l.job_id, l.worker_id from millrace.lease l union all select h.job_id, h.worker_id from millrace.lane_held h)"


def zombie(deployment, point):
    """Stands still before, or while, its result is recorded, until another runs one of its jobs: only then can a stale result do harm."""
    worker = deployment.worker(slots=4, fault=f"{point}=stop@2")
    if stopped(worker, 10):
        deployment.world.history.fault("stop", worker.name, pid=worker.pid)
        held = deployment.sql(f"select coalesce(string_agg(quote_literal(h.job_id), ', '), 'null') from {HOLDERS} h where h.worker_id like '%-{worker.pid}-%'")
        lost = f"select count(*) from {HOLDERS} h where h.job_id in ({held}) and h.worker_id not like '%-{worker.pid}-%'"
        until = time.monotonic() + 2.5 * deployment.lease_ms / 1000
        while time.monotonic() < until and not deployment.number(lost) and not worker.ended_within(0.02):
            pass
        worker.cont()
    return worker


def run(stage):
    counts = stage.counts
    with stage.world() as world:
        deployment = stage.deployment(world)
        for file in stage.options.sql or ():  # A wrong engine.
            deployment.sql(pathlib.Path(file).read_text())
        limited(deployment)
        # Few slots, and bursts: a claim whose answer is lost finds work, and takes it.
        lasting = [deployment.worker(slots=2, keeper=True) for _ in range(3)]
        for _ in range(2):
            deployment.producer(rate=20)
        world.history.phase("load")
        began, rounds, passing = time.monotonic(), 0, []
        while (elapsed := time.monotonic() - began) < counts["seconds"]:
            enqueue_outside(deployment, f"burst-{rounds}", "chaos", "row", 60, lambda: {"kind": "plain", "ms": stage.random.choice((100, 100, 100, 600))})
            passing.append(deployment.worker(slots=4, fault=LOST_ANSWERS[rounds % len(LOST_ANSWERS)]))
            passing.append(zombie(deployment, ("settle_with.before", "settle_with.after_send")[rounds % 2]))
            victim = stage.random.randrange(len(lasting))
            lasting[victim].kill()
            lasting[victim] = deployment.replace(lasting[victim], slots=2, keeper=True)
            rounds += 1
            while len(passing) > 6:
                worker = passing.pop(0)
                deployment.forget(worker)
                if worker.alive and worker.terminate(10) is None:
                    worker.kill()
            stage.progress(int(elapsed), counts["seconds"], f"{rounds} rounds")
        return stage.finish(deployment, {"rounds": rounds}, patience=12, sometimes=SOMETIMES, recovery_margin_ms=5000)
