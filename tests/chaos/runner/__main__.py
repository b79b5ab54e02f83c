"""Runs the campaigns of a profile one after the other; exit code 1 when any promise was broken."""
import argparse
import concurrent.futures
import html
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
    parser.add_argument("--lanes", type=int, default=1, help="campaigns at a time, each a process of its own: for profiles that judge no times")
    parser.add_argument("--sql", action="append", type=pathlib.Path, help="run on the database before the load (mixed only): a wrong engine")
    options = parser.parse_args()
    options.seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    options.out = (options.out or ROOT / "build/chaos" / options.profile).resolve()
    return options


def run_one(name, options):
    stage = Stage(name, options, ALL[name].COUNTS[options.profile])
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


def run_in_lanes(names, options):
    """Yields results as they come; what a campaign said is shown when it has ended."""
    def work(name):
        began = time.monotonic()
        argv = [sys.executable, *(["-B"] if sys.dont_write_bytecode else []), "-m", "runner", "--build", options.build, "--profile", options.profile,
                "--seed", options.seed, "--only", name, "--out", options.out / "lanes" / name]
        done = subprocess.run([str(word) for word in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        shutil.rmtree(options.out / name, ignore_errors=True)
        if (options.out / "lanes" / name / name).exists():
            (options.out / "lanes" / name / name).rename(options.out / name)
        file = options.out / "lanes" / name / "results.json"
        failed = {"name": name, "ok": False, "seconds": time.monotonic() - began, "text": f"ended with {done.returncode} and no result", "figures": {}}
        return done.stdout, json.loads(file.read_text())["campaigns"][0] if file.exists() else failed

    shutil.rmtree(options.out / "lanes", ignore_errors=True)
    with concurrent.futures.ThreadPoolExecutor(options.lanes) as lanes:
        for job in concurrent.futures.as_completed([lanes.submit(work, name) for name in names]):
            output, result = job.result()
            print(output, flush=True)
            yield result
    shutil.rmtree(options.out / "lanes", ignore_errors=True)


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
    for result in (run_in_lanes if options.lanes > 1 else run_in_turn)(names, options):
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
