"""Workers under a supervisor: a child that dies has its leases handed back at once, without waiting for them to expire."""
import os
import random
import signal
import time

from nemesis.guard import children

from ..scenarios import enqueue_outside

ALONE = True  # Its judgement is about time.
COUNTS = {"short": {"kills": 6}, "long": {"kills": 60}, "release": {"kills": 500}}
PROCESSES = 4
TOML = """
[[handler]]
type = "chaos.sleep"
run = "sleep"
queue = "chaos-out"
"""


def all_children(supervisor, deployment, timeout=60):
    """A child that died several times in a row is started again with a pause; the next one dies when all are registered."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        living = children(supervisor.pid)
        if len(living) == PROCESSES and deployment.number("select count(*) from millrace.worker") >= PROCESSES:
            return living
        time.sleep(0.05)
    raise RuntimeError("the supervisor does not bring its children back")


def run(stage):
    counts = stage.counts
    with stage.world() as world:
        deployment = stage.deployment(world)
        deployment.sql("""select millrace.set_queue('chaos-out', '{"max_attempts": 50, "backoff_base": "50 ms", "backoff_cap": "500 ms", "lease": "5 s"}')""")
        deployment.sql("""select millrace.set_job_type('chaos.sleep', '{"queue": "chaos-out"}')""")
        folder = world.dir / "product"
        folder.mkdir()
        (folder / "millrace.toml").write_text(TOML)
        ready = folder / "ready"
        # A lease so long that only the hand-back explains a quick recovery.
        argv = [world.program("millrace"), "--database-url", deployment.url, "--config", folder / "millrace.toml", "worker", "--processes", PROCESSES,
                "--queue", "chaos-out", "--slots", 8, "--lease", "30s", "--ready-file", ready]
        supervisor = world.processes.start("supervisor", argv, cwd=folder, ready_file=ready)
        deployment.workers.append(supervisor)
        world.history.phase("load")
        rng = random.Random(stage.random.random())
        for n in range(counts["kills"]):
            living = all_children(supervisor, deployment)
            enqueue_outside(deployment, f"sup-{n}", "chaos.sleep", "none", 12, lambda: {"ms": rng.choice((20, 200, 600))})
            time.sleep(0.1 + 0.3 * rng.random())  # Somewhere in their work.
            victim = rng.choice(living)
            world.history.fault("kill", "child", pid=victim)
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:  # It was faster: its supervisor knows already.
                continue
            stage.progress(n + 1, counts["kills"])
        verdict = stage.finish(deployment, {"kills": counts["kills"]}, **({} if stage.options.profile == "short" else {"lease_ms": 30_000}))
        return verdict
