"""What is measured, group by group. A group returns plain records; goals.py judges them.

Peers and Millrace take turns within every repeat, so that whatever changes on the machine over time hits both.
"""

import dataclasses
import itertools
import json
from typing import Callable

from . import figures
from .http_peers import TITLES
from .peers import CONFIGURATIONS, LATENCY


@dataclasses.dataclass
class Plan:
    """How much is measured."""

    repeats: int = 3
    payload_bytes: int = 110
    drain_jobs: int = 200_000
    probe_jobs: int = 50_000
    processes: tuple = (1, 2, 16, 64)
    enqueue_jobs: int = 100_000
    enqueue_seconds: int = 2
    sustained_seconds: int = 60
    held_seconds: int = 60
    latency_jobs: int = 200
    depths: tuple = (1_000, 1_000_000)
    overhead_jobs: int = 50_000
    retry_jobs: int = 25_000
    handler_seconds: int = 4
    idle_seconds: int = 20
    list_jobs: int = 1_000_000
    http_jobs: int = 10_000
    http_seconds: int = 3
    http_connections: tuple = (64, 256)
    uploads: int = 1_000
    large_megabytes: int = 2_000
    streams: int = 10_000
    stream_events: int = 100


QUICK = Plan()
FULL = Plan(
    repeats=5,
    processes=(1, 2, 4, 16, 64),
    held_seconds=120,
    depths=(1_000, 1_000_000, 10_000_000),
    overhead_jobs=100_000,
    retry_jobs=50_000,
    list_jobs=10_000_000,
    http_jobs=100_000,
    http_seconds=5,
)
TINY = Plan(
    repeats=1,
    drain_jobs=2_000,
    probe_jobs=1_000,
    processes=(1, 2),
    enqueue_jobs=1_000,
    enqueue_seconds=1,
    sustained_seconds=3,
    held_seconds=3,
    latency_jobs=20,
    depths=(100, 2_000),
    overhead_jobs=1_000,
    retry_jobs=500,
    handler_seconds=1,
    idle_seconds=3,
    list_jobs=2_000,
    http_jobs=200,
    http_seconds=1,
    http_connections=(4, 8),
    uploads=20,
    large_megabytes=10,
    streams=50,
    stream_events=5,
)


class Run:
    """One run of the benchmark: server, peers, plan, and what earlier groups found."""

    def __init__(self, server, peers, http_peers, plan, tell):
        self.server = server
        self.peers = peers
        self.http_peers = http_peers
        self.plan = plan
        self.tell = tell
        self.best = {}  # Peer -> configuration.
        self.conditions = {}

    def millrace(self, row, *arguments, repeats=1):
        payload = () if row == "uploads" else ("--payload-bytes", self.plan.payload_bytes)
        output = self.server.bench(row, "--repeats", repeats, *payload, *arguments)
        self.conditions = output["conditions"]
        for result in output["results"]:
            if result["samples"]:
                self.tell(f"millrace {row}, {result['case']}: {figures.short(result['median'])} {result['unit']}")
        return output

    def peer(self, peer, bench, **spec):
        """None where the peer could not be installed."""
        return self.peers.run(peer, bench, **spec) if self.peers.has(peer) else None

    def rate(self, peer, bench, **spec):
        result = self.peer(peer, bench, **spec)
        if result is not None:
            self.tell(f"{peer} {bench}: {result['rate']:,.0f} jobs/s")
        return result and result["rate"]


def collect(into, key, value):
    if value is not None:
        into.setdefault(key, []).append(value)


def summaries(samples):
    return {key: figures.summary(values) for key, values in samples.items()}


def probe(run):
    """Each peer's best configuration."""
    found = {peer: run.peers.probe(peer, run.plan.probe_jobs, run.tell) for peer in CONFIGURATIONS if run.peers.has(peer)}
    return {"configurations": found}


def enqueue(run):
    outputs = []
    peers = {}
    seconds = run.plan.enqueue_seconds
    for _ in range(run.plan.repeats):
        outputs.append(
            run.millrace("enqueue", "--jobs" if run.plan is TINY else "--seconds", run.plan.enqueue_jobs if run.plan is TINY else seconds)
        )
        for peer, kinds in (
            ("graphile-worker", ((4, 1000), (1, 1000), (2, 5000))),
            ("pg-boss", ((4, 1000), (2, 5000))),
            ("pgmq", ((4, 1000), (1, 1000))),
        ):
            for clients, batch in kinds:
                rate = run.rate(peer, "enqueue", kind="bulk", clients=clients, batch=batch, seconds=seconds)
                collect(peers, f"{peer}|bulk, {clients} clients, {batch} a call", rate)
        single_calls(run, peers, seconds)
    return {"millrace": figures.merge(outputs), "peers": summaries(peers)}


def single_calls(run, peers, seconds):
    """Where a peer has a SQL function, the same C++ client calls it that calls Millrace's."""
    payload = json.dumps({"number": 1, "fill": "x" * (run.plan.payload_bytes - 24)}, separators=(",", ":"))
    statements = {
        "graphile-worker": ("select graphile_worker.add_job($1, $2::json)", "bench"),
        "pgmq": ("select pgmq.send($1, $2::jsonb)", "bench"),
    }
    for peer, (statement, name) in statements.items():
        if not run.peers.has(peer):
            continue
        url = run.peers.fresh(peer)
        run.peer(peer, "install", url=url)
        for clients in (1, 8):
            rate = run.server.loop(url, statement, (name, payload), clients, seconds)
            run.tell(f"{peer} single, {clients} clients: {rate:,.0f} jobs/s")
            collect(peers, f"{peer}|single, {clients}", rate)
    for clients in (1, 8):
        rate = run.rate("pg-boss", "enqueue", kind="single", clients=clients, seconds=seconds)
        collect(peers, f"pg-boss|single, {clients}", rate)


def coalesced(run):
    return {"millrace": figures.merge([run.millrace("coalesced", "--seconds", run.plan.enqueue_seconds, repeats=run.plan.repeats)])}


def drain(run):
    outputs = []
    peers = {}
    processes = [word for count in run.plan.processes for word in ("--processes", count)]
    for _ in range(run.plan.repeats):
        outputs.append(run.millrace("drain", "--jobs", run.plan.drain_jobs, *processes))
        for peer in CONFIGURATIONS:
            if peer in run.best:
                collect(peers, peer, run.rate(peer, "drain", jobs=run.plan.drain_jobs, **run.best[peer]))
    return {"millrace": figures.merge(outputs), "peers": summaries(peers)}


def sustained(run):
    """Millrace with and without a held snapshot; graphile-worker without. The run without is the sustained figure."""
    outputs = []
    series = []
    wal = []
    for repeat in range(run.plan.repeats):
        outputs.append(run.millrace("held", "--seconds", run.plan.held_seconds, *(["--held-first"] if repeat % 2 else [])))
        if "graphile-worker" in run.best:
            before = run.server.wal_bytes()
            result = run.peer("graphile-worker", "sustained", seconds=run.plan.sustained_seconds, **run.best["graphile-worker"])
            wal.append((run.server.wal_bytes() - before) / max(1, result["series"][-1][1]))
            series.append(figures.per_second(result["series"]))
            mean = figures.mean_of_seconds(series[-1], run.plan.sustained_seconds)
            run.tell(f"graphile-worker sustained: {mean:,.0f} jobs/s, {wal[-1]:,.0f} WAL bytes/job")
    peer = {"series": series, "wal_bytes": figures.summary(wal)}
    return {"millrace": figures.merge(outputs), "graphile-worker": peer, "seconds": run.plan.sustained_seconds}


def latency(run):
    outputs = []
    peers = {}
    for _ in range(run.plan.repeats):
        outputs.append(run.millrace("latency", "--jobs", run.plan.latency_jobs))
        for peer, config in LATENCY.items():
            result = run.peer(peer, "latency", jobs=run.plan.latency_jobs, config=config)
            if result is not None:
                found = figures.percentiles(result["from_commit"])
                run.tell(f"{peer} latency: p50 {found['p50']:.2f} ms, p99 {found['p99']:.2f} ms")
                collect(peers, peer, found)
    return {"millrace": figures.merge(outputs), "peers": {peer: figures.median_of(found) for peer, found in peers.items()}}


def depth(run):
    depths = [word for backlog in run.plan.depths for word in ("--depth", backlog)]
    return {"millrace": figures.merge([run.millrace("depth", "--jobs", run.plan.drain_jobs, *depths, repeats=run.plan.repeats)])}


def http(run):
    """Status reads and durable enqueues over HTTP, by few and by many connections: each server counts with those that suit it.
    Peers ask a table of their own; once also Millrace's functions, and the better one counts."""
    outputs = []
    rates = {}
    times = {}
    peers = run.http_peers
    plan = run.plan
    own_ids = peers.prepare(plan.http_jobs)
    millrace_ids = run.server.folder / "http_ids.txt"

    def ask(peer, url, schema, ids, connections):
        with peers.running(peer, url, schema, ids) as address:
            for requests, count in itertools.product(("status", "enqueue"), connections):
                got = run.server.http_load(address, requests, ids, peers.token, count, plan.http_seconds, plan.payload_bytes)
                run.tell(f"{TITLES[peer]}, {schema} tables, {requests}, {count} connections: {got['rate']:,.0f} requests/s, p99 {got['ms']['p99']:.1f} ms")
                collect(rates, f"{peer}|{requests}|{schema}|{count}", got["rate"])
                collect(times, f"{peer}|{requests}|{schema}|{count}", got["ms"])

    for repeat in range(plan.repeats):
        for count in plan.http_connections:
            output = run.millrace("http", "--jobs", plan.http_jobs, "--seconds", plan.http_seconds, "--connections", count)
            for result in output["results"]:
                result["case"] += f", {count} connections"
            outputs.append(output)
        for peer in TITLES:
            if not peers.has(peer):
                continue
            ask(peer, run.server.url("bench_http"), "own", own_ids, plan.http_connections)
            if repeat == 0:
                ask(peer, run.server.facts["database_url"], "millrace", millrace_ids, plan.http_connections[:1])
    return {
        "millrace": figures.merge(outputs),
        "peers": summaries(rates),
        "times": {key: figures.median_of(found) for key, found in times.items()},
        "missing": {TITLES[peer]: why for peer, why in peers.missing.items()},
    }


def plain(row, *options):
    """A group that is one row of `millrace bench`."""

    def measure(run):
        words = [getattr(run.plan, word) if word in Plan.__dataclass_fields__ else word for word in options]
        return {"millrace": figures.merge([run.millrace(row, *words, repeats=run.plan.repeats)])}

    return measure


@dataclasses.dataclass
class Group:
    name: str
    measure: Callable
    about: str
    seconds: int  # Expected with QUICK, for the estimate.


GROUPS = [
    Group("probe", probe, "the peers' best configurations", 60),
    Group("enqueue", enqueue, "bulk and single enqueue, with peers", 200),
    Group("coalesced", coalesced, "single calls joined by the C++ client", 8),
    Group("drain", drain, "drain by 1 to 64 processes, with peers", 240),
    Group("sustained", sustained, "producers and workers, snapshot held and not, with graphile-worker", 570),
    Group("latency", latency, "pickup of single jobs, with peers", 60),
    Group("depth", depth, "drain from the head of a deep backlog", 120),
    Group("limits", plain("limits", "--jobs", "overhead_jobs"), "a provider's limit on and off", 45),
    Group("keys", plain("keys", "--jobs", "overhead_jobs"), "keys of concurrency on and off", 45),
    Group("retries", plain("retries", "--jobs", "retry_jobs"), "a fifth of the jobs fails once", 30),
    Group("handlers", plain("handlers", "--seconds", "handler_seconds"), "handlers of 1 ms, 50 ms and 5 s", 80),
    Group("idle", plain("idle", "--seconds", "idle_seconds"), "a worker with nothing to do", 105),
    Group("http", http, "status reads and enqueues over HTTP, with Fastify and FastAPI", 240),
    Group(
        "uploads",
        plain("uploads", "--connections", "uploads", "--large-megabytes", "large_megabytes"),
        "a thousand uploads at once, and one of 2 GB",
        120,
    ),
    Group("streams", plain("streams", "--connections", "streams", "--jobs", "stream_events"), "10 000 live streams", 120),
    Group("lists", plain("lists", "--jobs", "list_jobs"), "lists and details with many finished jobs", 60),
]
