"""Runs the campaigns of a profile one after the other; exit code 1 when any promise was broken."""
import argparse
import html
import json
import os
import pathlib
import random
import shutil
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
            "figures": verdict.figures}


def write_index(options, results):
    rows = "".join(f"<tr><td>{'✔' if r['ok'] else '✘'}</td><td><a href='{r['name']}/report.html'>{r['name']}</a></td><td>{r['seconds']:.0f} s</td>"
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
    for name in names:
        print(f"\n{name}", flush=True)
        results.append(run_one(name, options))
        write_index(options, results)
    print()
    for result in results:
        print(f"{'ok  ' if result['ok'] else 'FAIL'} {result['name']:<12} {result['seconds']:6.0f} s  {result['text']}")
    failed = sum(not r["ok"] for r in results)
    print(f"{len(results) - failed} passed, {failed} failed (seed {options.seed}; report {os.path.relpath(options.out / 'index.html')})")
    return 1 if failed else 0


sys.exit(main())
