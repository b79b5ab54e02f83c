"""Scenarios: for each fault point, which process passes it and what makes it do so.

A scenario has a name, the points it is for (by prefix), a plan (what is armed), how to start the process, and, for points that lie
on the way out, what provokes them. Processes that are tools run against scratch databases or queues of their own, so that the
account of the load stays exact.
"""
import dataclasses
import json
import os
import queue
import signal
import typing

from nemesis.guard import descendants
from nemesis.http_ledger import HttpLedger
from nemesis.postgres import Postgres

KEEPER = ("elect", "at_hand", "promote", "advance", "reclaim", "expire_waiting", "run_cron", "fold_counters", "reconcile", "empty_intake", "expire_keys",
          "expire_slots", "partitions", "seal_audit", "horizon")
WORKER = ("ensure_types", "warm_up", "register", "beat", "claim", "settle", "settle_with", "progress", "logs", "run", "listen", "listen_check")
RARE = {"at_hand", "ensure_types", "warm_up", "register", "listen", "listen_check", "reconcile", "empty_intake", "expire_keys", "partitions", "horizon", "expire_slots",
        "run_cron", "migrate_begin", "migrate_commit", "first_query", "hand_back", "exec", "http", "progress", "logs"}


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
    writes_elsewhere: bool = False  # Its own history is not part of the run's.
    # Whatever the kill left behind must be put right by doing the same again; raises when it is not.
    afterwards: typing.Callable = lambda deployment, process: None


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


def tool(*words):
    """One call of the command line."""
    def start(deployment, name, plan):
        argv = [deployment.world.program("millrace"), "--database-url", deployment.url, *words]
        return deployment.world.processes.start(name, argv, env={"MILLRACE_FAULT": plan})
    return start


class Migrations:
    """On empty databases of a server of their own, which need not survive anything."""

    def prepare(self, deployment):
        self.server = Postgres(deployment.world, "scratch", migrated=False, settings={"fsync": "off", "full_page_writes": "off"}).start()

    def start(self, deployment, name, plan):
        database = "m_" + name.replace("-", "_")
        self.server.sql(f"create database {database}", database="postgres")
        argv = [deployment.world.program("millrace"), "--database-url", self.server.url(database=database), "migrate", "up", "--expose", "public"]
        return deployment.world.processes.start(name, argv, env={"MILLRACE_FAULT": plan})

    def afterwards(self, deployment, process):
        deployment.world.run(process.argv)
        self.server.sql(f"drop database m_{process.name.replace('-', '_')} with (force)", database="postgres")


class Imports:
    """Jobs of another queue's table, in databases of their own on the scratch server: whenever their mover dies, each is moved once."""
    JOBS = 40

    def prepare(self, deployment):
        self._server = migrations.server
        self._server.sql("create database imports", database="postgres")
        deployment.world.run([deployment.world.program("millrace"), "--database-url", self._server.url(database="imports"), "migrate", "up", "--no-expose"])
        self._server.sql(f"""create table public.job_queue (id uuid primary key default gen_random_uuid(), job_type text, job_payload jsonb,
            status text default 'pending', priority integer default 5, scheduled_at timestamptz default now(), completed_at timestamptz,
            retry_count integer default 0, max_retries integer default 6, created_at timestamptz default now());
            insert into public.job_queue (job_type, job_payload) select 'noop', jsonb_build_object('n', i) from generate_series(1, {self.JOBS}) i""", database="imports")

    def start(self, deployment, name, plan):
        database = "i_" + name.replace("-", "_")
        self._server.sql(f"create database {database} template imports", database="postgres")
        argv = [deployment.world.program("millrace"), "--database-url", self._server.url(database=database), "import", "guardian", "--apply"]
        return deployment.world.processes.start(name, argv, env={"MILLRACE_FAULT": plan})

    def afterwards(self, deployment, process):
        database = "i_" + process.name.replace("-", "_")
        # Until the server has noticed that the mover is gone, rows may be held.
        for _ in range(100):
            done = deployment.world.run(process.argv, check=False)
            if done.returncode != 7:
                break
        moved = self._server.sql("select (select count(*) from millrace.job_fact) || ' ' || (select count(*) from public.job_queue where status = 'pending')", database=database)
        if done.returncode != 0 or moved != f"{self.JOBS} 0":
            raise RuntimeError(f"moved and left: {moved}; {done.stderr}")
        self._server.sql(f"drop database {database} with (force)", database="postgres")


class PrivateClusters:
    """Folders for programs that make a cluster of their own; three, so that no more than three run at once."""

    def __init__(self):
        self._free = queue.Queue()
        self._uses = 0

    def prepare(self, deployment):
        for number in range(3):
            self._free.put(deployment.world.dir / f"own{number}")

    def start(self, deployment, name, plan):
        folder = self._free.get()
        if "cluster_create" in plan:  # In a new place: the server of the last owner may still be on its way out of the old one.
            folder = folder.with_name(f"{folder.name.split('-')[0]}-{name}")
        argv = [deployment.world.program("millrace"), "bench", "enqueue", "--folder", folder, "--jobs", 50, "--batch", 10, "--repeats", 1]
        # Jobs of another database are none of this history's business.
        elsewhere = deployment.world.dir / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        process = deployment.world.processes.start(name, argv, env={"MILLRACE_FAULT": plan, "MILLRACE_HISTORY": elsewhere})
        process.folder = folder
        return process

    def afterwards(self, deployment, process):
        """The next owner must find a cluster that it can use: the next trial in this folder, and from time to time one that stops it in order."""
        try:
            self._uses += 1
            if self._uses % 4:
                return
            data = next(process.folder.rglob("millrace-cluster*"), None)
            data = data.parent if data else process.folder / ".millrace"
            ready = process.folder / "ready.json"
            argv = [deployment.world.program("millrace"), "--data-dir", data, "up", "--no-worker", "--ready-file", ready]
            again = deployment.world.processes.start(process.name + "-again", argv, ready_file=ready)
            if again.terminate(60) != 0:
                raise RuntimeError(f"the cluster in {data} did not come up again:\n{again.log_text()[-2000:]}")
        finally:
            self._free.put(process.folder)


def write_toml(deployment):
    """A worker of the product itself, with handlers outside its process."""
    deployment.ledger = HttpLedger(deployment.world, seed=1).start()
    folder = deployment.world.dir / "product"
    folder.mkdir(exist_ok=True)
    (folder / "millrace.toml").write_text("""
[[handler]]
type = "chaos.exec"
run = "exec:/bin/sh -c 'cat > /dev/null; echo {}'"
queue = "chaos-out"
[[handler]]
type = "chaos.http"
run = "URL"
queue = "chaos-out"
""".replace("URL", deployment.ledger.url))
    deployment.sql("""select millrace.set_queue('chaos-out', '{"max_attempts": 50, "backoff_base": "50 ms", "backoff_cap": "500 ms", "lease": "2 s"}')""")
    for kind in ("chaos.exec", "chaos.http"):
        deployment.sql(f"""select millrace.set_job_type('{kind}', '{{"queue": "chaos-out"}}')""")


def enqueue_outside(deployment, name, kind, effect, count=24, more=dict):
    """Jobs for handlers outside the worker's process, written into the history as any producer would."""
    keys = [f"{name}-{i}" for i in range(count)]
    specs = json.dumps([{"job_type": kind, "payload": {"key_id": key, "expect": "completed", "effect": effect} | more(), "idempotency_key": key} for key in keys])
    history = deployment.world.history
    call = history.call("enqueue", keys=keys)
    rows = deployment.sql(f"select json_agg(json_build_object('job', e.job_id, 'ord', e.ord)) from millrace.enqueue_jobs('{specs}') e")
    history.ok(call, jobs=[{"key": keys[row["ord"] - 1], "job": row["job"]} for row in json.loads(rows)])


def start_product(kind, effect, *words):
    """`millrace worker` itself."""
    def start(deployment, name, plan):
        folder = deployment.world.dir / "product"
        ready = folder / f"{name}.ready"
        argv = [deployment.world.program("millrace"), "--database-url", deployment.url, "--config", folder / "millrace.toml", "worker",
                "--queue", "chaos-out", "--slots", "2", "--lease", f"{deployment.lease_ms}ms", "--no-keeper", "--ready-file", ready, *words]
        process = deployment.world.processes.start(name, argv, env={"MILLRACE_FAULT": plan} if plan else {}, cwd=folder, ready_file=ready)
        enqueue_outside(deployment, name, kind, effect)
        return process
    return start


def kill_a_child(process):
    children = descendants(process.pid)
    if children:
        os.kill(children[0], signal.SIGKILL)


own = PrivateClusters()
migrations = Migrations()
imports = Imports()
ALL = [
    Scenario("worker", WORKER, start_worker),
    # Rare paths are brought about by a first fault.
    Scenario("unheld", ("unheld",), start_worker, plan=lambda point, random: f"claim.after_send=drop@2;{point}=kill"),
    # Results that cannot be recorded for longer than the job's own lease.
    Scenario("extend", ("extend",), start_worker, plan=lambda point, random: ";".join(["settle.before=error", "settle_with.before=error"] * 10 + [f"{point}=kill"])),
    Scenario("retire", ("retire",), start_worker, plan=lambda point, random: f"{point}=kill", provoke=terminate),
    Scenario("keeper", KEEPER, start_keeper, needs_no_keeper=True),
    Scenario("resign", ("resign",), start_keeper, plan=lambda point, random: f"{point}=kill", provoke=terminate, provoke_after=2.5, needs_no_keeper=True),
    Scenario("producer", ("enqueue",), start_producer),
    Scenario("raw", ("enqueue_on",), start_raw_producer),
    Scenario("exec", ("exec",), start_product("chaos.exec", "none"), prepare=write_toml),
    Scenario("http", ("http",), start_product("chaos.http", "http")),
    Scenario("supervisor", ("hand_back",), start_product("chaos.exec", "none", "--processes", "2"), provoke=kill_a_child, provoke_after=1.0),
    Scenario("up", ("first_query",), tool("up", "--no-worker")),
    Scenario("own", ("cluster_identify", "cluster_create", "private_drop", "private_create", "enqueue_array", "enqueue_copy"), own.start,
             plan=lambda point, random: f"{point}=kill", prepare=own.prepare, afterwards=own.afterwards, writes_elsewhere=True),
    Scenario("read", ("admin_read",), tool("queues", "list"), plan=lambda point, random: f"{point}=kill"),
    Scenario("write", ("admin_write",), tool("queues", "pause", "heavy"), plan=lambda point, random: f"{point}=kill"),
    Scenario("migrate", ("migrate", "migrate_begin", "migrate_commit", "expose"), migrations.start, prepare=migrations.prepare,
             plan=lambda point, random: f"{point}=kill@{1 if base(point) in RARE else random.randrange(1, 60)}", afterwards=migrations.afterwards),
    Scenario("migrate-back", ("migrate_rollback",), migrations.start,
             plan=lambda point, random: f"migrate.before=error@{random.randrange(10, 60)};{point}=kill", afterwards=migrations.afterwards),
    # After the migrations, whose server it uses.
    Scenario("import", ("import_report", "import_move"), imports.start, prepare=imports.prepare, plan=lambda point, random: f"{point}=kill",
             afterwards=imports.afterwards),
]
SCENARIOS = {scenario.name: scenario for scenario in ALL}
_BY_BASE = {name: scenario for scenario in ALL for name in scenario.points}


def scenario_of(point):
    return _BY_BASE.get(base(point))
