"""From the records of the groups to one entry per goal: what was measured, against whom, and whether the goal was reached."""

from . import figures

WAL_GOAL_BYTES = 0.6 * 1024


def median(record):
    return record and record.get("median")


def spread(record):
    return [record["min"], record["max"]] if record and record.get("samples") else None


def ratio(a, b):
    return a / b if a is not None and b else None


def best(cases, prefix, among=None):
    """The case with the highest median whose name begins so."""
    found = [
        record for name, record in cases.items() if name.startswith(prefix) and record.get("samples") and (among is None or among(record))
    ]
    return max(found, key=median, default=None)


def best_peer(peers, peer, prefix):
    found = [record for name, record in peers.items() if name.startswith(f"{peer}|{prefix}")]
    return max(found, key=median, default=None)


def reached(*conditions):
    """None when something was not measured, unless what was measured already fails."""
    if any(condition is False for condition in conditions):
        return False
    return None if any(condition is None for condition in conditions) else True


def at_least(value, goal):
    return None if value is None else value >= goal


def at_most(value, goal):
    return None if value is None else value <= goal


def rounded(value, digits=4):
    return None if value is None else round(value, digits)


def entry(unit, goal, goal_text, millrace, met, **more):
    fields = {"millrace": rounded(millrace), "unit": unit, "goal": goal, "goal_text": goal_text, "met": met}
    return {**fields, **{key: value for key, value in more.items()}}


def drain(records):
    cases, peers = records["drain"]["millrace"], records["drain"]["peers"]
    own = best(cases, "", lambda record: record["processes"] <= 4)
    rates = {peer: median(peers.get(peer)) for peer in ("graphile-worker", "pg-boss", "pgmq")}
    against, loop = ratio(median(own), rates["graphile-worker"]), ratio(median(own), rates["pgmq"])
    return entry(
        "jobs/s",
        3,
        "≥ 3 × graphile-worker, ≥ 1.5 × pgmq",
        median(own),
        reached(at_least(against, 3), at_least(loop, 1.5)),
        ratio=rounded(against),
        ratio_pgmq=rounded(loop),
        floor=2,
        floor_met=at_least(against, 2),
        case=own["case"],
        spread={"millrace": spread(own), **{p: spread(r) for p, r in peers.items()}},
        per_job=own.get("per_job"),
        configurations={p: c["best"] for p, c in records["probe"]["configurations"].items()},
        **rates,
    )


def processes(records):
    cases = {record["processes"]: record for record in records["drain"]["millrace"].values()}
    rates = {str(count): round(median(record)) for count, record in sorted(cases.items())}
    most = max(cases)
    found = ratio(median(cases[most]), max(median(record) for record in cases.values())) if len(cases) > 1 else None
    return entry(
        "ratio",
        0.7,
        "64 processes ÷ best ≥ 0.7 (floor 0.5)",
        found,
        at_least(found, 0.7) if most == 64 else None,
        ratio=rounded(found),
        floor=0.5,
        floor_met=at_least(found, 0.5) if most == 64 else None,
        rates=rates,
        processes=most,
        spread={str(count): spread(record) for count, record in cases.items()},
    )


def sustained(records):
    record = records["sustained"]
    seconds = record["seconds"]
    own = [figures.mean_of_seconds(series, seconds) for series in record["millrace"]["control"]["series"]]
    peer = [figures.mean_of_seconds(series, seconds) for series in record["graphile-worker"]["series"]]
    mine, theirs = figures.summary(own), figures.summary(peer)
    found = ratio(median(mine), median(theirs))
    control = record["millrace"]["control"]
    return entry(
        "jobs/s",
        3,
        "≥ 3 × graphile-worker",
        median(mine),
        at_least(found, 3),
        ratio=rounded(found),
        seconds=seconds,
        spread={"millrace": spread(mine), "graphile-worker": spread(theirs)},
        first_10s=control["first_10s"],
        last_10s=control["last_10s"],
        per_job=control.get("per_job"),
        series={
            "millrace": figures.middle_series(control["series"])[:seconds],
            "graphile-worker": figures.middle_series(record["graphile-worker"]["series"]),
        },
        **{"graphile-worker": rounded(median(theirs))},
    )


def held_snapshot(records):
    cases = records["sustained"]["millrace"]
    found = cases["held / control, last 30 s"]
    return entry(
        "ratio",
        0.9,
        "last 30 s held ÷ control ≥ 0.9 (floor 0.85)",
        median(found),
        at_least(median(found), 0.9),
        ratio=rounded(median(found)),
        floor=0.85,
        floor_met=at_least(median(found), 0.85),
        spread={"millrace": spread(found)},
        seconds=cases["control"]["seconds"],
        control_last_30s=cases["control"]["last_30s"],
        held_last_30s=cases["snapshot held"]["last_30s"],
        series={
            "control": figures.middle_series(cases["control"]["series"]),
            "snapshot held": figures.middle_series(cases["snapshot held"]["series"]),
        },
    )


def bulk(records, prefix, goal):
    cases, peers = records["enqueue"]["millrace"], records["enqueue"]["peers"]
    own = best(cases, prefix)
    others = {peer: best_peer(peers, peer, "bulk") for peer in ("graphile-worker", "pg-boss", "pgmq")}
    found = ratio(median(own), median(others["graphile-worker"]))
    return entry(
        "jobs/s",
        goal,
        f"≥ {goal} × graphile-worker",
        median(own),
        at_least(found, goal),
        ratio=rounded(found),
        case=own["case"],
        per_job=own.get("per_job"),
        cases={name: median(record) for name, record in cases.items() if name.startswith(prefix)},
        spread={"millrace": spread(own), **{peer: spread(record) for peer, record in others.items()}},
        **{peer: rounded(median(record)) for peer, record in others.items()},
    )


def single(records, clients, goal):
    own = best(records["enqueue"]["millrace"], f"single, {clients} client")
    others = {peer: best_peer(records["enqueue"]["peers"], peer, f"single, {clients}") for peer in ("graphile-worker", "pg-boss", "pgmq")}
    found = ratio(median(own), median(others["pgmq"]))
    return entry(
        "jobs/s",
        goal,
        f"≥ {goal} × pgmq",
        median(own),
        at_least(found, goal),
        ratio=rounded(found),
        per_job=own.get("per_job"),
        spread={"millrace": spread(own), **{peer: spread(record) for peer, record in others.items()}},
        **{peer: rounded(median(record)) for peer, record in others.items()},
    )


def coalesced(records):
    cases = records["coalesced"]["millrace"]
    record = best(cases, "") or next(iter(cases.values()))
    value = median(record) if record["samples"] else None
    return entry(
        "calls/s",
        50_000,
        "≥ 50 000 acknowledged calls/s",
        value,
        at_least(value, 50_000),
        reason=record.get("reason"),
        cases={name: median(one) for name, one in cases.items() if one["samples"]},
        per_job=record.get("per_job"),
        spread={"millrace": spread(record)},
    )


def latency(records):
    own = records["latency"]["millrace"]["from commit to handler"]["ms"]
    peers = records["latency"]["peers"]
    peer = peers.get("graphile-worker")
    keys = ("p50", "p95", "p99", "p99.9")
    percentiles = {
        "millrace": {key: own[key] for key in keys},
        **{name: {key: rounded(found[key], 3) for key in keys} for name, found in peers.items()},
    }
    met = reached(at_most(own["p50"], peer["p50"]), at_most(own["p99"], peer["p99"])) if peer else None
    found = ratio(peer["p50"], own["p50"]) if peer else None
    return entry(
        "ms, p50",
        None,
        "≤ graphile-worker at p50 and p99",
        own["p50"],
        met,
        ratio=rounded(found),
        percentiles=percentiles,
        p99=own["p99"],
        **{name: rounded(found["p50"], 3) for name, found in peers.items()},
    )


def depth(records):
    cases = sorted(records["depth"]["millrace"].values(), key=lambda record: record["backlog"])
    shallow = median(cases[0])
    ratios = {record["backlog"]: ratio(median(record), shallow) for record in cases[1:]}
    goals = {1_000_000: 0.95, 10_000_000: 0.9}
    met = (
        reached(*(at_least(ratios.get(backlog), goal) for backlog, goal in goals.items() if backlog in ratios))
        if ratios.keys() & goals.keys()
        else None
    )
    return entry(
        "ratio",
        0.95,
        "1 M ÷ 1 k ≥ 0.95, 10 M ÷ 1 k ≥ 0.9",
        ratios.get(1_000_000),
        met,
        ratio=rounded(ratios.get(1_000_000)),
        ratios={str(backlog): rounded(value) for backlog, value in ratios.items()},
        rates={str(record["backlog"]): round(median(record)) for record in cases},
        spread={str(record["backlog"]): spread(record) for record in cases},
        unmeasured=[backlog for backlog in goals if backlog not in ratios],
    )


def wal(records):
    cost = records["sustained"]["millrace"]["control"]["per_job"]
    value = cost["wal_bytes"]
    theirs = records["sustained"]["graphile-worker"].get("wal_bytes")
    return entry(
        "bytes/job",
        WAL_GOAL_BYTES,
        "≤ 0.6 KiB, enqueue to settlement",
        value,
        at_most(value, WAL_GOAL_BYTES),
        ratio=rounded(ratio(median(theirs), value)),
        per_job=cost,
        spread={"graphile-worker": spread(theirs)},
        **{"graphile-worker": rounded(median(theirs), 1)},
    )


def overhead(records, group, off, on, goal):
    cases = records[group]["millrace"]
    found = ratio(median(cases[on]), median(cases[off]))
    return entry(
        "ratio",
        goal,
        f"on ÷ off ≥ {goal}",
        found,
        at_least(found, goal),
        ratio=rounded(found),
        on=rounded(median(cases[on])),
        off=rounded(median(cases[off])),
        spread={"on": spread(cases[on]), "off": spread(cases[off])},
        per_job=cases[on].get("per_job"),
    )


def idle(records):
    cases = list(records["idle"]["millrace"].values())
    cpu, asked, memory = (median(case) for case in cases[:3])
    met = reached(at_most(cpu, 0.5), at_most(asked, 2), at_most(memory, 30))
    return entry(
        "% of a core",
        0.5,
        "≤ 0.5 % of a core, ≤ 2 transactions/s, ≤ 30 MB",
        cpu,
        met,
        transactions_per_second=rounded(asked),
        resident_mb=rounded(memory, 1),
        server_cpu_percent=rounded(median(cases[3])),
        spread={case["case"]: spread(case) for case in cases},
    )


def lists(records):
    cases = records["lists"]["millrace"]
    times = {name: record["ms"] for name, record in cases.items()}
    worst = max(record["p95"] for record in times.values())
    jobs = next(iter(cases.values()))["finished_jobs"]
    return entry(
        "ms, p95 of the slowest",
        20,
        "≤ 20 ms at 10 M finished jobs",
        worst,
        at_most(worst, 20) if jobs >= 10_000_000 or worst > 20 else None,
        finished_jobs=jobs,
        times=times,
    )


HTTP_PEERS = ("fastify", "fastapi")


def http(records, requests, case):
    record = records["http"]
    # Everybody with the number of connections that suits it best, and each peer with its better tables.
    own = max((one for name, one in record["millrace"].items() if name.startswith(f"{case}, ")), key=median)
    best_key = {
        peer: max((key for key in record["peers"] if key.startswith(f"{peer}|{requests}|")), key=lambda key: median(record["peers"][key]), default=None)
        for peer in HTTP_PEERS
    }
    others = {peer: record["peers"].get(key) for peer, key in best_key.items()}
    measured = [median(found) for found in others.values() if found]
    found = ratio(median(own), max(measured)) if measured else None
    met = at_least(found, 3)
    # The faster one may be the one that is missing.
    if met and len(measured) < len(HTTP_PEERS):
        met = None
    missing = "; ".join(f"{peer} was not measured: {why}" for peer, why in record["missing"].items())
    return entry(
        "requests/s",
        3,
        "≥ 3 × the faster of Fastify + pg and FastAPI + asyncpg",
        median(own),
        met,
        ratio=rounded(found),
        reason=missing or None,
        connections={"millrace": own["connections"], **{peer: key and int(key.split("|")[3]) for peer, key in best_key.items()}},
        per_job=own.get("per_job"),
        all_own={one["connections"]: median(one) for name, one in record["millrace"].items() if name.startswith(f"{case}, ")},
        ms={"millrace": own["ms"], **{peer: record["times"].get(key) for peer, key in best_key.items()}},
        tables={peer: key and key.split("|")[2] for peer, key in best_key.items()},
        all_peers={key: median(summary) for key, summary in record["peers"].items()},
        spread={"millrace": spread(own), **{peer: spread(summary) for peer, summary in others.items()}},
        **{peer: rounded(median(summary)) for peer, summary in others.items()},
    )


def upload_cases(records, large):
    """What was measured of many small uploads, or of the one large one, by the end of its name."""
    cases = records["uploads"]["millrace"]
    return {name.split(" MB", 1)[1]: record for name, record in cases.items() if name.startswith("1 of ") is large}


def uploads(records, large, goal, whose):
    cases = upload_cases(records, large)
    memory, lost, rate = cases[f": {whose}"], cases[": refused or lost"], cases[" at once"]
    count, _, megabytes = memory["case"].split()[:3]
    value = median(memory)
    met = reached(at_most(value, goal), lost["max"] == 0)
    # Fewer, or a smaller one, than the goal names prove nothing.
    if met and (float(megabytes) < 2000 if large else int(count) < 1000):
        met = None
    return entry(
        "MB",
        goal,
        f"≤ {goal} MB {'above idle' if large else 'resident'}, none refused or lost",
        value,
        met,
        uploads=int(count),
        megabytes=float(megabytes),
        refused_or_lost=lost["max"],
        megabytes_per_second=rounded(median(rate)),
        ms=rate.get("ms"),
        spread={"millrace": spread(memory)},
    )


def streams(records):
    cases = records["streams"]["millrace"]
    last = best(cases, "event to the last of")
    memory, asked = cases["memory of the server with them"], cases["transactions while all listen"]
    # One reader follows the log for all, tens of times a second, however many listen.
    met = reached(at_most(median(last), 250), at_most(median(memory), 400), at_most(median(asked), 100))
    if met and last["streams"] < 10_000:
        met = None
    return entry(
        "ms, p99 to the last",
        250,
        "≤ 250 ms, ≤ 400 MB resident, no query per stream (≤ 100 transactions/s in all)",
        median(last),
        met,
        streams=last["streams"],
        each_p99_ms=rounded(median(cases["event to each of them, p99"])),
        resident_mb=rounded(median(memory), 1),
        kb_each=rounded(median(cases["memory of one of them"]), 1),
        transactions_per_second=rounded(median(asked)),
        transactions_without=rounded(asked["without_streams"]),
        spread={"millrace": spread(last)},
    )


def extras(records):
    """Measured, without a goal."""
    out = {}
    if "retries" in records:
        cases = records["retries"]["millrace"]
        found = ratio(median(cases["20 % fail once"]), median(cases["none fails"]))
        out["retries"] = entry(
            "ratio", None, "none", found, None, ratio=rounded(found), rates={name: median(record) for name, record in cases.items()}
        )
    if "handlers" in records:
        cases = records["handlers"]["millrace"]
        shares = {name: rounded(median(record) / record["possible"]) for name, record in cases.items()}
        out["handlers"] = entry(
            "share of the slots' rate",
            None,
            "none",
            min(shares.values()),
            None,
            shares=shares,
            rates={name: median(record) for name, record in cases.items()},
        )
    return out


# In the order of the goals; each with the groups it needs.
GOALS = [
    ("drain", ("probe", "drain"), drain),
    ("sustained", ("sustained",), sustained),
    ("held_snapshot", ("sustained",), held_snapshot),
    ("enqueue_copy", ("enqueue",), lambda records: bulk(records, "COPY", 3)),
    ("enqueue_array", ("enqueue",), lambda records: bulk(records, "array", 2)),
    ("enqueue_single_1", ("enqueue",), lambda records: single(records, 1, 1.5)),
    ("enqueue_single_8", ("enqueue",), lambda records: single(records, 8, 2)),
    ("enqueue_coalesced", ("coalesced",), coalesced),
    ("latency", ("latency",), latency),
    ("depth", ("depth",), depth),
    ("processes", ("drain",), processes),
    ("wal", ("sustained",), wal),
    ("limiter", ("limits",), lambda records: overhead(records, "limits", "no limit", "provider limit", 0.95)),
    ("keys", ("keys",), lambda records: overhead(records, "keys", "no key", "1000 keys", 0.85)),
    ("idle", ("idle",), idle),
    ("lists", ("lists",), lists),
    ("http_status", ("http",), lambda records: http(records, "status", "GET the status of a job")),
    ("http_enqueue", ("http",), lambda records: http(records, "enqueue", "POST a job")),
    ("uploads_many", ("uploads",), lambda records: uploads(records, False, 200, "most memory of the server")),
    ("uploads_large", ("uploads",), lambda records: uploads(records, True, 64, "above an idle one")),
    ("streams", ("streams",), streams),
]


def judge(records, conditions):
    """The content of results.json."""
    results = {}
    for key, groups, make in GOALS:
        if all(group in records for group in groups):
            results[key] = make(records)
    results.update(extras(records))
    results["conditions"] = conditions
    return results
