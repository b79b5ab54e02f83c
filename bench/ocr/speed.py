#!/usr/bin/env python3
"""Pages per second to a searchable PDF, against ocrmypdf in the same run.

    bench/ocr/speed.py [--pages 100] [--seed 5] [--rounds 3] [--file a.pdf] [--skip-text]

Ours: one process per page, two at a time, then one that writes the PDF. The processes are started cold (--run), so each page pays for
starting the program and loading the language; in the worker it does not. Error rates are those of `pdftotext -raw` of both results against
the truth, when there is one. Prints medians, the ratio and the conditions.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("MILLRACE_BUILD", "build/release")
ENV = dict(os.environ, OMP_THREAD_LIMIT="1")


def run(args, **more):
    return subprocess.run([str(a) for a in args], env=ENV, capture_output=True, check=True, **more)


def read(file, page):
    request = {"op": "read", "kind": "pdf", "page": page, "languages": ["eng"]}
    return json.loads(run([BUILD / "millrace-document", "--run", json.dumps(request), file]).stderr)


def ours(file, pages, out):
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda p: read(file, p), range(1, pages + 1)))
    lines = out.with_suffix(".jsonl")
    lines.write_text("".join(json.dumps(r["page"], ensure_ascii=False) + "\n" for r in results))
    out.write_bytes(run([BUILD / "millrace-document", "--run", '{"op":"assemble","kind":"pdf"}', file, lines]).stdout)
    return time.monotonic() - begin, sum(r["source"] == "ocr" for r in results)


def theirs(file, out, skip_text):
    begin = time.monotonic()
    run(["ocrmypdf", "--jobs", "2", "--output-type", "pdf", "--optimize", "0"] + (["--skip-text"] if skip_text else []) + [file, out])
    return time.monotonic() - begin


def error_rate(pdf, truth, work):
    errors = expected = 0
    for number, text in enumerate(truth, 1):
        a, b = work / "truth.txt", work / "reading.txt"
        a.write_text(text)
        b.write_bytes(run(["pdftotext", "-raw", "-f", number, "-l", number, pdf, "-"]).stdout)
        counted = json.loads(run([BUILD / "millrace-document", "--compare", a, b]).stdout)
        errors += counted["errors"]
        expected += counted["characters"]
    return 100 * errors / max(1, expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--seed", default="5")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--file", help="a PDF instead of a generated scan")
    parser.add_argument("--skip-text", action="store_true")
    args = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="speed-"))
    file = pathlib.Path(args.file) if args.file else work / "scan.pdf"
    if not args.file:
        run([BUILD / "millrace-samples", "scan", "--pages", args.pages, "--seed", args.seed, "--out", file])
    rounds = []
    for _ in range(args.rounds):  # One after the other, so that both meet the same weather.
        mine, recognised = ours(file, args.pages, work / "ours.pdf")
        rounds.append((mine, theirs(file, work / "theirs.pdf", args.skip_text)))
    mine, other = (statistics.median(r[i] for r in rounds) for i in (0, 1))
    print(f"{args.pages} pages ({recognised} recognised), {args.rounds} rounds, load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    print(f"ours     {mine:8.2f} s {args.pages / mine:7.2f} pages/s")
    print(f"ocrmypdf {other:8.2f} s {args.pages / other:7.2f} pages/s   ratio {other / mine:.2f}")
    truth_file = pathlib.Path(str(file) + ".truth.json")
    if truth_file.exists():
        truth = [p["text"] for f in json.loads(truth_file.read_text())["files"] for p in f["pages"]]
        print(f"errors: ours {error_rate(work / 'ours.pdf', truth, work):.3f} %, "
              f"ocrmypdf {error_rate(work / 'theirs.pdf', truth, work):.3f} %")


main()
