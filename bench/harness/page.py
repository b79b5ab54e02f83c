"""docs/performance.md from results.json: goal, measured, peer for every row, and the conditions."""

import json

NAMES = {
    "drain": "drain of 200k no-op jobs, jobs/s",
    "sustained": "enqueue and process together, jobs/s",
    "held_snapshot": "the same with a snapshot held, last 30 s ÷ control",
    "enqueue_copy": "bulk enqueue by COPY, jobs/s",
    "enqueue_array": "bulk enqueue by array, jobs/s",
    "enqueue_single_1": "single durable enqueue, 1 client, jobs/s",
    "enqueue_single_8": "single durable enqueue, 8 clients, jobs/s",
    "enqueue_coalesced": "single calls joined by the C++ client, calls/s",
    "latency": "pickup of a single job, ms p50",
    "depth": "drain at 1 M backlog ÷ at 1 k",
    "processes": "64 processes ÷ best number of processes",
    "wal": "WAL per job, bytes",
    "limiter": "provider limit on ÷ off",
    "keys": "keys of concurrency on ÷ off",
    "idle": "idle worker, % of a core",
    "lists": "lists and details, ms p95 of the slowest",
    "http_status": "status of a job over HTTP, requests/s",
    "http_enqueue": "durable enqueue over HTTP, requests/s",
    "uploads_many": "1000 uploads of 1 MB at once, MB of the server",
    "uploads_large": "one upload of 2 GB, MB of the server",
    "streams": "10 000 live streams, ms from an event to the last of them, p99",
    "retries": "a fifth fails once ÷ none fails",
    "handlers": "handlers of 1 ms, 50 ms, 5 s: least share of the slots' rate",
}


HTTP = ("http_status", "http_enqueue")
LOAD = ("uploads_many", "uploads_large", "streams")


def number(value):
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if abs(value) >= 10_000:
        return f"{value / 1000:,.1f}k" if abs(value) < 1e6 else f"{value / 1e6:,.2f}M"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def verdict(row):
    if row.get("met") is None:
        return row.get("reason") or ("open" if row["goal_text"] != "none" and row.get("millrace") is not None else "–")
    if row["met"]:
        return "reached"
    if row.get("floor_met"):
        return f"not reached; floor {row['floor']} is"
    return "**not reached**"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def with_spread(row, who):
    value = row.get(who)
    found = (row.get("spread") or {}).get(who)
    return number(value) + (f" ({number(found[0])}..{number(found[1])})" if value is not None and found else "")


def goal_table(results):
    rows = []
    for key, name in NAMES.items():
        row = results.get(key)
        if row and key not in HTTP + LOAD:
            rows.append(
                (
                    name,
                    row["goal_text"],
                    with_spread(row, "millrace"),
                    with_spread(row, "graphile-worker"),
                    with_spread(row, "pg-boss"),
                    with_spread(row, "pgmq"),
                    number(row.get("ratio")),
                    verdict(row),
                )
            )
    return table(("measure", "goal", "Millrace", "graphile-worker", "pg-boss", "pgmq", "ratio", ""), rows)


def http_table(results):
    rows = []
    for key in HTTP:
        row = results.get(key)
        if row:
            peers = (with_spread(row, "millrace"), with_spread(row, "fastify"), with_spread(row, "fastapi"))
            rows.append((NAMES[key], row["goal_text"], *peers, number(row.get("ratio")), verdict(row)))
    return table(("over HTTP", "goal", "Millrace", "Fastify + pg", "FastAPI + asyncpg", "ratio", ""), rows) if rows else []


def load_table(results):
    """Many clients of one server at once: nobody to compare with."""
    rows = []
    for key in LOAD:
        row = results.get(key)
        if not row:
            continue
        if key == "streams":
            also = (
                f"{number(row['streams'])} streams, {number(row['resident_mb'])} MB, {number(row['kb_each'])} kB each; "
                f"{number(row['transactions_per_second'])} transactions/s, {number(row['transactions_without'])} without them"
            )
        else:
            also = (
                f"{number(row['uploads'])} of {number(row['megabytes'])} MB, {number(row['megabytes_per_second'])} MB/s, "
                f"{number(row['refused_or_lost'])} refused or lost"
            )
        rows.append((NAMES[key], row["goal_text"], with_spread(row, "millrace"), also, verdict(row)))
    return table(("many at once", "goal", "Millrace", "", ""), rows) if rows else []


def http_times(results):
    """Percentiles of every server, and what a request cost Millrace and PostgreSQL."""
    lines = []
    for key in HTTP:
        row = results.get(key)
        if not row:
            continue
        percentiles = ("p50", "p95", "p99", "p99.9")
        rows = [(who, row["connections"][who], *(f"{found[name]:.2f}" for name in percentiles)) for who, found in row["ms"].items() if found]
        name = NAMES[key].split(",")[0]
        title = f"## {name[0].upper()}{name[1:]}: ms, with the number of connections that suits each best"
        lines += ["", title, *table(("", "connections", *percentiles), rows)]
        lines += ["", f"Millrace by connections: {', '.join(f'{count}: {number(rate)}/s' for count, rate in row['all_own'].items())}."]
        cost = row.get("per_job")
        if cost:
            lines += [
                "",
                f"CPU per request: PostgreSQL {number(cost['server_cpu_us'])} µs, Millrace's server with the load generator {number(cost['client_cpu_us'])} µs.",
            ]
    return lines


def cost_table(results):
    rows = []
    for key in ("enqueue_single_1", "enqueue_array", "enqueue_copy", "drain", "sustained", "limiter", "keys"):
        cost = (results.get(key) or {}).get("per_job")
        if cost:
            rows.append(
                (
                    NAMES[key].split(",")[0],
                    *(
                        number(cost[name])
                        for name in ("wal_bytes", "commits", "rows_written", "rows_dead", "server_cpu_us", "client_cpu_us", "cores_used")
                    ),
                )
            )
    return table(("per job", "WAL bytes", "commits", "row versions", "dead versions", "server CPU µs", "client CPU µs", "cores used"), rows)


def details(results):
    lines = []
    latency = results.get("latency")
    if latency:
        keys = ("p50", "p95", "p99", "p99.9")
        rows = [(who, *(f"{found[key]:.2f}" for key in keys)) for who, found in latency["percentiles"].items()]
        lines += ["", "## Pickup, ms from commit to handler", *table(("", *keys), rows)]
    for key, title, first in (
        ("processes", "Drain by worker processes", "processes"),
        ("depth", "Drain of the head of a backlog", "left behind"),
    ):
        row = results.get(key)
        if row:
            lines += [
                "",
                f"## {title}",
                *table(
                    (first, "jobs/s", "spread"),
                    [
                        (number(int(at)) if key == "depth" else at, number(rate), " .. ".join(number(end) for end in row["spread"][at]))
                        for at, rate in row["rates"].items()
                    ],
                ),
            ]
    if results.get("handlers"):
        lines += [
            "",
            "## Handlers that take their time",
            *table(
                ("handler", "share of the slots' rate"), [(name, f"{share:.0%}") for name, share in results["handlers"]["shares"].items()]
            ),
        ]
    if results.get("lists"):
        rows = [
            (name, f"{times['p50']:.2f}", f"{times['p95']:.2f}", f"{times['p99']:.2f}") for name, times in results["lists"]["times"].items()
        ]
        lines += [
            "",
            f"## Questions of people at {results['lists']['finished_jobs']:,} finished jobs, ms",
            *table(("", "p50", "p95", "p99"), rows),
        ]
    if results.get("idle"):
        idle = results["idle"]
        lines += [
            "",
            f"An idle worker process: {idle['millrace']:.2f} % of a core, {idle['transactions_per_second']:.2f} transactions/s, {idle['resident_mb']:.1f} MB resident.",
        ]
    return lines


def conditions(results):
    found = results["conditions"]
    lines = ["## Conditions"]
    lines += [
        f"- {key.replace('_', ' ')}: {value if isinstance(value, str) else json.dumps(value)}"
        for key, value in found.items()
        if value is not None
    ]
    chosen = (results.get("drain") or {}).get("configurations")
    if chosen:
        lines += [f"- {peer}, the fastest of its documented configurations: `{json.dumps(choice)}`" for peer, choice in chosen.items()]
    return lines


# Row whose figures a plot shows -> plot and what it is.
PLOTS = {
    "drain": ("throughput", "Jobs a second, end to end"),
    "sustained": ("sustained", "Producers and workers together, second by second"),
    "latency": ("latency", "Pickup of a single job"),
    "processes": ("processes", "Drain by worker processes"),
    "held_snapshot": ("held", "With a snapshot held by another session"),
    "http_status": ("http", "Requests a second over HTTP"),
}


def plots(results):
    """Pictures that `millrace bench report` drew, in plots/ beside the page."""
    lines = []
    for row, (name, title) in PLOTS.items():
        if row in results:
            lines += ["", f"![{title}](plots/{name}.svg)"]
    return lines


def render(results):
    profile = results["conditions"].get("profile", "")
    lines = [
        "# Performance",
        "",
        f"Written by `make bench{' FULL=1' if profile == 'full' else ''}`; do not edit. Figures of one machine: only ratios taken in the same run mean anything. Medians, with the spread in brackets.",
        "Every peer ran on the same server in the same run, in turns with Millrace, with the same payload and durability, in the fastest of several documented",
        "configurations. Millrace ran as it ships: fence, retries, an outcome per job, audit, events, tenants and counters on.",
        "",
        *goal_table(results),
        "",
        *http_table(results),
        "",
        *load_table(results),
        *plots(results),
        "",
        "## What a job costs",
        *cost_table(results),
        *details(results),
        *http_times(results),
        "",
        *conditions(results),
        "",
        "How each figure is taken: [bench/README.md](../bench/README.md). Plots: `millrace bench report`.",
    ]
    return "\n".join(lines) + "\n"
