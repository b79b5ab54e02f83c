#!/usr/bin/env python3
"""Recall and precision of the offline provider `local` on generated documents with their truth: from the truth's own text, which the goals are
for, and from pages as Millrace reads them.

    bench/extract/accuracy.py --seed 31 [--count 4] [--only born,docx] [--misses 10] [--text-only]

Pages are read by the program that reads documents, two at a time. `scoring.py` judges; it shares nothing with the extractor nor the generator.
Seeds that were looked at while tuning say little: judge on others. Ends with 1 if a goal is missed. Builds what it needs.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/extract")]

from scoring import Scores  # noqa: E402
from verdicts import Verdicts  # noqa: E402

BUILD = ROOT / os.environ.get("MILLRACE_BUILD", "build/release")
LANGUAGES = {"en": "eng", "de": "deu", "fr": "fra", "es": "spa"}
KINDS = {".pdf": "pdf", ".docx": "docx", ".txt": "text"}


def read_page(folder, entry, number):
    file = folder / entry["file"]
    request = {"op": "read", "kind": KINDS.get(file.suffix, "image"), "page": number, "mode": "auto", "languages": [LANGUAGES[entry["language"]]]}
    done = subprocess.run([BUILD / "millrace-document", "--run", json.dumps(request), file], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{file.name} page {number}: {done.stderr[:300]}")
    return json.dumps(json.loads(done.stderr)["page"])


def read_all(folder, files, target):
    """A file of pages for each document, a line a page."""
    tasks = [(entry, number) for entry in files for number in range(1, len(entry["pages"]) + 1)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        read = list(pool.map(lambda task: read_page(folder, *task), tasks))
    for (entry, _), page in zip(tasks, read):
        with (target / (entry["file"] + ".jsonl")).open("a") as out:
            out.write(page + "\n")


def score(folder, files, *arguments):
    done = subprocess.run([BUILD / "extract_passes", folder, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"extract_passes: {done.stderr[:300]}")
    said = {one["file"]: one for one in map(json.loads, done.stdout.splitlines())}
    scores = Scores()
    for entry in files:
        if entry["facts"]:
            scores.add(entry, said.get(entry["file"]))
    return scores


def show(scores, misses):
    for line in scores.table():
        print(line)
    for name, lines in (("misplaced", scores.misplaced), ("rejected", scores.rejected), ("called new, but in a list", sorted(scores.false_new))):
        for line in lines[:20]:
            print(f"{name}: {line}")
    if misses:
        shown = {}
        for kind, line in scores.missed + scores.wrong:
            shown[kind] = shown.get(kind, 0) + 1
            if shown[kind] <= misses:
                print(f"  {kind}: {line}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default="31")
    parser.add_argument("--count", default="4")
    parser.add_argument("--only", help="classes of samples, parted by commas")
    parser.add_argument("--misses", type=int, default=0, help="how many of each kind to print")
    parser.add_argument("--text-only", action="store_true", help="the truth's own text only; nothing is read, nothing built")
    arguments = parser.parse_args()
    if not arguments.text_only:
        subprocess.run(["cmake", "--build", BUILD, "--target", "extract_passes", "millrace-document", "millrace-samples"], check=True,
                       stdout=subprocess.DEVNULL)
    verdicts = Verdicts()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "set"
        only = ["--only", arguments.only] if arguments.only else []
        subprocess.run([BUILD / "millrace-samples", "set", "--seed", arguments.seed, "--count", arguments.count, "--out", folder, *only], check=True,
                       stdout=subprocess.DEVNULL)
        files = [entry for entry in json.loads((folder / "truth.json").read_text())["files"]
                 if entry.get("expected_state", "completed") == "completed" and entry["pages"]]
        print(f"seed {arguments.seed}, count {arguments.count}, {sum(len(entry['pages']) for entry in files)} pages: from the truth's text", flush=True)
        scores = score(folder, files)
        show(scores, arguments.misses)
        scores.judge(verdicts)
        if not arguments.text_only:
            pages = pathlib.Path(name) / "pages"
            pages.mkdir()
            read_all(folder, files, pages)
            print("from pages as they were read", flush=True)
            scores = score(folder, files, "--pages", pages)
            show(scores, arguments.misses)
            scores.judge(verdicts, "as read: ", bar=False)
    return verdicts.end()


sys.exit(main())
