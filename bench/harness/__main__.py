"""Runs the benchmark: every group in turn, results.json, docs/performance.md, report.html."""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import platform
import shutil
import sys
import time

from . import goals, page, rows
from .peers import Peers
from .server import Failed, Server, run
from .state import State

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Progress:
    """One line per event, with where we are."""

    def __init__(self, groups):
        self.groups = groups
        self.begin = time.monotonic()
        self.expected = sum(group.seconds for group in groups)
        self.passed = 0  # Expected seconds of finished groups.
        self.spent = 0  # What they really took.
        self.number = 0

    def tell(self, text):
        print(f"  {text}", flush=True)

    def start(self, group, scale):
        self.number += 1
        elapsed = time.monotonic() - self.begin
        speed = self.spent / self.passed if self.passed else scale
        left = (self.expected - self.passed) * speed
        print(
            f"[{self.number}/{len(self.groups)}] {group.name}: {group.about} ({minutes(elapsed)} elapsed, about {minutes(left)} left)",
            flush=True,
        )

    def finish(self, group, took):
        self.passed += group.seconds
        self.spent += took

    def skip(self, group):
        self.expected -= group.seconds


def minutes(seconds):
    return f"{int(seconds // 60)}:{int(seconds % 60):02d}"


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def memory_gib():
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)


def describe(bench, profile, took, peers_versions, missing):
    """The conditions of the whole run."""
    own = {key: value for key, value in bench.items() if key not in ("repeats", "at")}
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "profile": profile,
        "cpu": cpu_model(),
        "memory_gib": memory_gib(),
        "kernel": platform.release(),
        **own,
        "peers": peers_versions,
        "missing_peers": missing or None,
        "minutes": round(took / 60, 1),
    }


def measure(run_state, group, state, progress, scale, build):
    saved = state.load(group.name)
    if saved is not None:
        progress.tell(
            f"{group.name}: kept from {saved['at']}" + ("" if saved["build"] == build else ", measured with another build of millrace")
        )
        progress.skip(group)
        progress.number += 1
        run_state.conditions = saved["conditions"]
        return saved
    progress.start(group, scale)
    load = os.getloadavg()[0]
    begin = time.monotonic()
    record = group.measure(run_state)
    took = time.monotonic() - begin
    progress.finish(group, took)
    saved = {
        "at": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "build": build,
        "seconds": round(took, 1),
        "load_before": load,
        "conditions": run_state.conditions,
        "record": record,
    }
    state.save(group.name, saved)
    return saved


def measure_all(options, groups, plan, out):
    state = State(out / "state" / options.profile, keep=options.profile == "full" and not options.fresh)
    millrace = pathlib.Path(options.millrace).resolve()
    build = hashlib.sha256(millrace.read_bytes()).hexdigest()[:16]
    progress = Progress(groups)
    scale = {"tiny": 0.15, "quick": 1, "full": 2.6}[options.profile]
    records, failed, kept = {}, [], []
    with Server(millrace, out) as server:
        peers = Peers(server, out, plan.payload_bytes)
        peers.install(progress.tell)
        for peer, why in peers.missing.items():
            progress.tell(f"{peer} is not measured: {why}")
        run_state = rows.Run(server, peers, plan, progress.tell)
        for group in groups:
            try:
                saved = measure(run_state, group, state, progress, scale, build)
            except Failed as error:
                progress.tell(f"{group.name} FAILED: {error}")
                failed.append(group.name)
                continue
            kept.append(saved)
            records[group.name] = saved["record"]
            if group.name == "probe":
                run_state.best = {peer: found["best"] for peer, found in saved["record"]["configurations"].items()}
        peers.clean()
    conditions = describe(run_state.conditions, options.profile, time.monotonic() - progress.begin, peers.versions, peers.missing)
    conditions["repeats"] = plan.repeats
    conditions["busiest_load_before_a_row"] = max((one["load_before"] for one in kept), default=None)
    if len({one["build"] for one in kept}) > 1:
        conditions["builds"] = "rows were measured with different builds"
    return goals.judge(records, conditions), failed


def parse(arguments):
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--millrace", default=ROOT / "build/release/millrace", help="the program to measure")
    parser.add_argument("--out", default=ROOT / "build/bench", type=pathlib.Path)
    parser.add_argument("--page", default=ROOT / "docs/performance.md", type=pathlib.Path)
    parser.add_argument("--profile", choices=("tiny", "quick", "full"), default="quick")
    parser.add_argument("--fresh", action="store_true", help="measure again what an interrupted full run has measured")
    parser.add_argument("--only", default="", help="groups, separated by commas: " + ",".join(group.name for group in rows.GROUPS))
    return parser.parse_args(arguments)


def publish(results, out, file):
    """The page, and the plots that it shows, beside it."""
    file.write_text(page.render(results))
    folder = file.parent / "plots"
    folder.mkdir(exist_ok=True)
    for name, _ in page.PLOTS.values():
        if (out / f"{name}.svg").exists():
            shutil.copy(out / f"{name}.svg", folder / f"{name}.svg")


def main(arguments=None):
    options = parse(arguments)
    plan = {"tiny": rows.TINY, "quick": rows.QUICK, "full": rows.FULL}[options.profile]
    only = {name for name in options.only.split(",") if name}
    groups = [group for group in rows.GROUPS if not only or group.name in only or (group.name == "probe" and only & {"drain", "sustained"})]
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    results, failed = measure_all(options, groups, plan, out)
    (out / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    run([options.millrace, "bench", "report", "--results", out / "results.json", "--out", out / "report.html"])
    # A part of the rows would not make a page for others.
    whole = not only and options.profile != "tiny" and not failed
    publish(results, out, options.page if whole else out / "performance.md")
    print("\n".join(page.goal_table(results)))
    print(f"\n{out / 'results.json'}, {out / 'report.html'}; {results['conditions']['minutes']} minutes")
    return 1 if failed else 0


sys.exit(main())
