"""Runs the benchmark: every group in turn, results.json, docs/performance.md, report.html."""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import platform
import shutil
import signal
import sys
import time

from . import goals, page, rows
from .http_peers import HttpPeers
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
        self.number += 1
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


def busy_share(seconds=1.0):
    """How much of the machine is busy while the benchmark does nothing: what others take."""

    def read():
        numbers = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        return sum(numbers), numbers[3] + numbers[4]  # All, and idle or waiting.

    total, idle = read()
    time.sleep(seconds)
    total_after, idle_after = read()
    return round(1 - (idle_after - idle) / max(1, total_after - total), 3)


class Session:
    """One run of the harness: which groups it measures, and which it takes from earlier."""

    def __init__(self, options, groups, plan, out):
        self.options, self.groups, self.plan, self.out = options, groups, plan, out
        self.millrace = pathlib.Path(options.millrace).resolve()
        self.build = hashlib.sha256(self.millrace.read_bytes()).hexdigest()[:16]
        self.resumes = options.profile == "full" and not options.fresh
        self.state = State(out / "state" / options.profile, keep=self.resumes or bool(options.only))
        self.progress = Progress(groups)
        self.saved, self.failed = {}, []

    def kept(self, group):
        """What is known of the group and need not be measured again."""
        asked = group.name in self.options.only.split(",")
        return self.state.load(group.name) if self.resumes or (group.name == "probe" and not asked and self.options.only) else None

    def measure(self, run_state, group):
        saved = self.kept(group)
        if saved is not None:
            other = "" if saved["build"] == self.build else ", measured with another build of millrace"
            self.progress.tell(f"{group.name}: kept from {saved['at']}{other}")
            self.progress.skip(group)
            return saved
        self.progress.start(group, {"tiny": 0.15, "quick": 1, "full": 2.6}[self.options.profile])
        busy = busy_share()
        begin = time.monotonic()
        record = group.measure(run_state)
        took = time.monotonic() - begin
        self.progress.finish(group, took)
        saved = {
            "at": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "build": self.build,
            "seconds": round(took, 1),
            "busy_before": busy,
            "conditions": run_state.conditions,
            "record": record,
        }
        self.state.save(group.name, saved)
        return saved

    def run(self):
        with Server(self.millrace, self.out) as server:
            peers = Peers(server, self.out, self.plan.payload_bytes)
            peers.install(self.progress.tell)
            for peer, why in peers.missing.items():
                self.progress.tell(f"{peer} is not measured: {why}")
            http_peers = HttpPeers(server, self.out, peers.node)
            if any(group.name == "http" for group in self.groups):
                http_peers.install(self.progress.tell)
            run_state = rows.Run(server, peers, http_peers, self.plan, self.progress.tell)
            for group in self.groups:
                try:
                    self.saved[group.name] = self.measure(run_state, group)
                except (Failed, KeyError, TypeError, ValueError) as error:
                    # One row that cannot be measured does not take the others with it.
                    self.progress.tell(f"{group.name} FAILED: {type(error).__name__}: {error}")
                    self.failed.append(group.name)
                    continue
                if group.name == "probe":
                    found = self.saved["probe"]["record"]["configurations"]
                    run_state.best = {peer: choice["best"] for peer, choice in found.items()}
            peers.clean()
            http_peers.clean()
        peers.versions.update(http_peers.versions)
        return self.results(peers)

    def results(self, peers):
        # Groups that nobody asked for this time, but that are known of this profile.
        for group in rows.GROUPS:
            earlier = self.state.load(group.name)
            if group.name not in self.saved and group.name not in self.failed and earlier is not None:
                self.saved[group.name] = earlier
        kept = list(self.saved.values())
        bench = kept[-1]["conditions"] if kept else {}
        conditions = describe(bench, self.options.profile, time.monotonic() - self.progress.begin, peers.versions, peers.missing)
        conditions["repeats"] = self.plan.repeats
        conditions["most_of_the_machine_taken_by_others"] = max((one.get("busy_before", 0) for one in kept), default=None)
        if len({one["build"] for one in kept}) > 1:
            conditions["builds"] = "rows were measured with different builds"
        return goals.judge({name: one["record"] for name, one in self.saved.items()}, conditions)


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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # So that the server is stopped in order.
    plan = {"tiny": rows.TINY, "quick": rows.QUICK, "full": rows.FULL}[options.profile]
    only = {name for name in options.only.split(",") if name}
    groups = [group for group in rows.GROUPS if not only or group.name in only or (group.name == "probe" and only & {"drain", "sustained"})]
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    session = Session(options, groups, plan, out)
    results = session.run()
    (out / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    run([options.millrace, "bench", "report", "--results", out / "results.json", "--out", out / "report.html"])
    # A part of the rows would not make a page for others.
    whole = not only and options.profile != "tiny" and not session.failed
    publish(results, out, options.page if whole else out / "performance.md")
    print("\n".join(page.goal_table(results) + [""] + page.http_table(results) + [""] + page.load_table(results)))
    print(f"\n{out / 'results.json'}, {out / 'report.html'}; {results['conditions']['minutes']} minutes")
    return 1 if session.failed else 0


sys.exit(main())
