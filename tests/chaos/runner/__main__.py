"""Runs the campaigns of a profile one after the other; exit code 1 when any promise was broken."""
import argparse
import concurrent.futures
import html
import itertools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time
import traceback

from .campaigns import ALL
from .stage import Stage

ROOT = pathlib.Path(__file__).resolve().parents[3]


def parse():
    parser = argparse.ArgumentParser(prog="runner", description=__doc__)
    parser.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path)
    parser.add_argument("--profile", choices=("short", "long", "release"), default="short")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--only", help="campaigns, separated by commas: " + ", ".join(ALL))
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--lanes", type=int, default=2, help="campaigns at a time, but for those whose judgement is about time")
    parser.add_argument("--sql", action="append", type=pathlib.Path, help="run on the database before the load (mixed only): a wrong engine")
    options = parser.parse_args()
    options.seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    options.out = (options.out or ROOT / "build/chaos" / options.profile).resolve()
    return options


def is_timed(name, options):
    return getattr(ALL[name], "ALONE", False) and options.profile != "short"


def run_one(name, options):
    stage = Stage(name, options, ALL[name].COUNTS[options.profile], is_timed(name, options))
    shutil.rmtree(stage.directory, ignore_errors=True)
    began = time.monotonic()
    try:
        verdict = ALL[name].run(stage)
    except Exception:
        traceback.print_exc()
        return {"name": name, "ok": False, "seconds": time.monotonic() - began, "text": "the campaign itself failed; see above", "figures": {}}
    verdict.write(stage.directory)
    print(verdict.text(), flush=True)
    return {"name": name, "ok": verdict.ok, "seconds": time.monotonic() - began, "text": ", ".join(f"{n} {c}" for c, n in verdict.counts.items()) or "nothing violated",
            "figures": verdict.figures, "reached": verdict.reached}


class Lanes:
    """Campaigns that judge no times, a few at a time, each a process of its own. Yields results as they come; what a campaign said is shown when it has
    ended, and every ten seconds how far each is."""

    def __init__(self, options):
        self._options, self._began = options, {}
        self._folder = options.out / "lanes"

    def _argv(self, name):
        options = self._options
        return [str(word) for word in (sys.executable, *(["-B"] if sys.dont_write_bytecode else []), "-m", "runner", "--build", options.build, "--profile",
                                       options.profile, "--seed", options.seed, "--lanes", 1, "--only", name, "--out", self._folder / name,
                                       *(word for file in options.sql or () for word in ("--sql", file)))]

    def _work(self, name):
        (self._folder / name).mkdir(parents=True)
        self._began[name] = time.monotonic()
        with open(self._folder / name / "output.txt", "w") as output:
            done = subprocess.run(self._argv(name), stdout=output, stderr=subprocess.STDOUT)
        seconds = time.monotonic() - self._began.pop(name)
        text = (self._folder / name / "output.txt").read_text()
        shutil.rmtree(self._options.out / name, ignore_errors=True)
        if (self._folder / name / name).exists():
            (self._folder / name / name).rename(self._options.out / name)
        file = self._folder / name / "results.json"
        failed = {"name": name, "ok": False, "seconds": seconds, "text": f"ended with {done.returncode} and no result", "figures": {}}
        return text, json.loads(file.read_text())["campaigns"][0] if file.exists() else failed

    def _tell(self):
        for name, began in sorted(self._began.items()):
            lines = (self._folder / name / "output.txt").read_text().splitlines()
            last = next((line.strip() for line in reversed(lines) if line.strip()), "")
            print(f"  {name:<14}{time.monotonic() - began:5.0f} s  {last[:100]}", flush=True)

    def run(self, names):
        shutil.rmtree(self._folder, ignore_errors=True)
        with concurrent.futures.ThreadPoolExecutor(self._options.lanes) as lanes:
            jobs = {lanes.submit(self._work, name) for name in names}
            while jobs:
                done, jobs = concurrent.futures.wait(jobs, timeout=10, return_when=concurrent.futures.FIRST_COMPLETED)
                for job in done:
                    text, result = job.result()
                    print(text, flush=True)
                    yield result
                if not done:
                    self._tell()
        shutil.rmtree(self._folder, ignore_errors=True)


def run_in_turn(names, options):
    for name in names:
        print(f"\n{name}", flush=True)
        yield run_one(name, options)


def properties(results):
    """A path of the program that no campaign took was not tried at all: the run as a whole must have seen every MR_SOMETIMES."""
    lines = (line.split() for line in (ROOT / "tests/chaos/fault_points.txt").read_text().splitlines())
    wanted = {words[1] for words in lines if words and words[0] == "sometimes"}
    missing = sorted(wanted - {name for result in results for name in result.get("reached", ())})
    text = f"{len(wanted) - len(missing)} of {len(wanted)} seen" + (f"; never: {', '.join(missing)}" if missing else "")
    return {"name": "properties", "ok": not missing, "seconds": 0, "text": text, "figures": {"wanted": len(wanted), "missing": missing}}


def link(options, name):
    return f"<a href='{name}/report.html'>{name}</a>" if (options.out / name / "report.html").exists() else name


def write_index(options, results):
    rows = "".join(f"<tr><td>{'✔' if r['ok'] else '✘'}</td><td>{link(options, r['name'])}</td><td>{r['seconds']:.0f} s</td>"
                   f"<td>{html.escape(r['text'])}</td></tr>" for r in results)
    (options.out / "index.html").write_text(
        f"<!doctype html><meta charset='utf-8'><title>Chaos run {options.seed}</title><style>body{{font:16px system-ui;margin:2rem auto;max-width:60rem;"
        f"color-scheme:light dark}}td{{padding:.3rem .8rem}}</style><h1>Chaos run, profile {options.profile}, seed {options.seed}</h1><table>{rows}</table>")
    (options.out / "results.json").write_text(json.dumps({"seed": options.seed, "profile": options.profile, "campaigns": results}, indent=1) + "\n")


def main():
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    names = options.only.split(",") if options.only else [name for name in ALL if ALL[name].COUNTS[options.profile] is not None]
    unknown = [name for name in names if name not in ALL]
    if unknown:
        sys.exit(f"no campaign {unknown[0]}; there are {', '.join(ALL)}")
    print(f"profile {options.profile}, seed {options.seed}, reports in {os.path.relpath(options.out)}", flush=True)
    results = []
    together = [name for name in names if options.lanes > 1 and not is_timed(name, options)]
    alone = [name for name in names if name not in together]
    for result in itertools.chain(Lanes(options).run(together), run_in_turn(alone, options)):
        results.append(result)
        write_index(options, results)
    if not options.only and options.profile != "short":
        results.append(properties(results))
        write_index(options, results)
    print()
    for result in results:
        print(f"{'ok  ' if result['ok'] else 'FAIL'} {result['name']:<12} {result['seconds']:6.0f} s  {result['text']}")
    failed = sum(not r["ok"] for r in results)
    print(f"{len(results) - failed} passed, {failed} failed (seed {options.seed}; report {os.path.relpath(options.out / 'index.html')})")
    return 1 if failed else 0


sys.exit(main())
