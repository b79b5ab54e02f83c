"""Scenarios: for each fault point, which process passes it and what makes it do so.

A scenario has a name, the points it is for (by prefix), a plan (what is armed), how to start the process, and, for points that lie
on the way out, what provokes them. Processes that are tools run against scratch databases or queues of their own, so that the
account of the load stays exact.
"""
import dataclasses
import json
import signal
import typing

KEEPER = ("elect", "promote", "advance", "reclaim", "expire_waiting", "run_cron", "fold_counters", "reconcile", "expire_keys",
          "expire_slots", "partitions", "seal_audit", "horizon")
WORKER = ("ensure_types", "register", "beat", "claim", "extend", "settle", "settle_begin", "settle_logs", "settle_fence", "settle_effect",
          "settle_commit", "progress", "logs", "run", "listen", "listen_check")
RARE = {"ensure_types", "register", "listen", "listen_check", "reconcile", "expire_keys", "partitions", "horizon", "expire_slots",
        "run_cron", "migrate_begin", "migrate_commit"}


def base(point):
    return point.rsplit(".", 1)[0]


def nth(point, random, most=6):
    return 1 if base(point) in RARE else random.randrange(1, most + 1)


@dataclasses.dataclass
class Scenario:
    name: str
    points: tuple
    start: typing.Callable
    plan: typing.Callable = lambda point, random: f"{point}=kill@{nth(point, random)}"
    provoke: typing.Callable = None
    provoke_after: float = 0.4
    patience: float = 30.0
    needs_no_keeper: bool = False
    prepare: typing.Callable = lambda deployment: None
    died: typing.Callable = lambda deployment, process: False


def terminate(process):
    process.signal(signal.SIGTERM)


def start_worker(deployment, name, plan):
    return deployment.worker(name, slots=4, fault=plan)


def start_keeper(deployment, name, plan):
    return deployment.worker(name, slots=1, fault=plan, keeper=True)


def start_producer(deployment, name, plan):
    process = deployment.producer(name, rate=30, seconds=20, fault=plan)
    deployment.producers.remove(process)
    return process


def start_raw_producer(deployment, name, plan):
    argv = [deployment.world.program("chaos_producer"), deployment.url, name, 1, 30, 20, 5, "raw"]
    return deployment.world.processes.start(name, argv, env={"MILLRACE_FAULT": plan})


def tool(*words, database=None):
    """One call of the command line."""
    def start(deployment, name, plan):
        argv = [deployment.world.program("millrace"), "--database-url", deployment.url, *words]
        return deployment.world.processes.start(name, argv, env={"MILLRACE_FAULT": plan})
    return start


def start_migration(deployment, name, plan):
    """On an empty database of its own; whatever the kill leaves behind, a second run must complete it."""
    database = "m_" + name.replace("-", "_")
    deployment.database.sql(f"create database {database}", database="postgres")
    url = deployment.database.url(database=database)
    argv = [deployment.world.program("millrace"), "--database-url", url, "migrate", "up", "--expose", "public"]
    process = deployment.world.processes.start(name, argv, env={"MILLRACE_FAULT": plan})
    process.again = argv
    process.scratch = database
    return process


def migration_completes(deployment, process):
    return False


def write_toml(deployment):
    """A worker of the product itself, with handlers outside its process."""
    folder = deployment.world.dir / "product"
    folder.mkdir(exist_ok=True)
    (folder / "millrace.toml").write_text("""
[[handler]]
type = "chaos.exec"
run = "exec:/bin/sh -c 'cat > /dev/null; echo {}'"
queue = "chaos-out"
[[handler]]
type = "chaos.sleep"
run = "sleep"
queue = "chaos-out"
""")
    deployment.sql("""select millrace.set_queue('chaos-out', '{"max_attempts": 50, "backoff_base": "50 ms", "backoff_cap": "500 ms", "lease": "2 s"}')""")
    for kind in ("chaos.exec", "chaos.sleep"):
        deployment.sql(f"""select millrace.set_job_type('{kind}', '{{"queue": "chaos-out"}}')""")


def start_product(*words):
    def start(deployment, name, plan):
        folder = deployment.world.dir / "product"
        specs = json.dumps([{"job_type": "chaos.exec", "payload": {"key_id": f"{name}-{i}", "expect": "completed", "effect": "none"},
                             "idempotency_key": f"{name}-{i}"} for i in range(8)])
        history = deployment.world.history
        call = history.call("enqueue", keys=[f"{name}-{i}" for i in range(8)])
        rows = deployment.sql(f"select json_agg(json_build_object('job', e.job_id, 'ord', e.ord)) from millrace.enqueue_jobs('{specs}') e")
        history.ok(call, jobs=[{"key": f"{name}-{row['ord'] - 1}", "job": row["job"]} for row in json.loads(rows)])
        argv = [deployment.world.program("millrace"), "--database-url", deployment.url, "--config", folder / "millrace.toml", "worker",
                "--queue", "chaos-out", "--slots", "2", "--lease", f"{deployment.lease_ms}ms", "--no-keeper", *words]
        return deployment.world.processes.start(name, argv, env={"MILLRACE_FAULT": plan}, cwd=folder)
    return start


ALL = [
    Scenario("worker", WORKER, start_worker),
    # Rare paths are brought about by a first fault.
    Scenario("release", ("release",), start_worker, plan=lambda point, random: f"claim.after_send=drop@2;{point}=kill"),
    Scenario("rollback", ("settle_rollback",), start_worker, plan=lambda point, random: f"settle_commit.after_send=drop@2;{point}=kill"),
    Scenario("retire", ("retire",), start_worker, plan=lambda point, random: f"{point}=kill", provoke=terminate),
    Scenario("keeper", KEEPER, start_keeper, needs_no_keeper=True),
    Scenario("resign", ("resign",), start_keeper, plan=lambda point, random: f"{point}=kill", provoke=terminate, provoke_after=1.2, needs_no_keeper=True),
    Scenario("producer", ("enqueue",), start_producer),
    Scenario("raw", ("enqueue_on",), start_raw_producer),
    Scenario("exec", ("exec",), start_product(), prepare=write_toml),
    Scenario("read", ("admin_read",), tool("queues", "list"), plan=lambda point, random: f"{point}=kill"),
    Scenario("write", ("admin_write",), tool("queues", "pause", "heavy"), plan=lambda point, random: f"{point}=kill"),
    Scenario("migrate", ("migrate", "migrate_begin", "migrate_commit", "expose"), start_migration,
             plan=lambda point, random: f"{point}=kill@{1 if base(point) in RARE else random.randrange(1, 60)}"),
]
SCENARIOS = {scenario.name: scenario for scenario in ALL}
_BY_BASE = {name: scenario for scenario in ALL for name in scenario.points}


def scenario_of(point):
    return _BY_BASE.get(base(point))
