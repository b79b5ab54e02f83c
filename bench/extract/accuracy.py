#!/usr/bin/env python3
"""Recall and precision of the offline provider `local` on generated documents with their truth: from the truth's own text, and from pages as
Millrace reads them.

    bench/extract/accuracy.py --seed 31 [--count 4] [--misses 10]

Pages are read by the program that reads documents, two at a time. Seeds that were looked at while tuning say little: judge on others.
Builds extract_evaluate if need be.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/release"
LANGUAGES = {"en": "eng", "de": "deu", "fr": "fra", "es": "spa"}
KINDS = {".pdf": "pdf", ".docx": "docx", ".txt": "text"}


def read_page(folder, entry, number):
    file = folder / entry["file"]
    request = {"op": "read", "kind": KINDS.get(file.suffix, "image"), "page": number, "mode": "auto", "languages": [LANGUAGES[entry["language"]]]}
    done = subprocess.run([BUILD / "millrace-document", "--run", json.dumps(request), file], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{file.name} page {number}: {done.stderr[:300]}")
    return json.dumps(json.loads(done.stderr)["page"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="31")
    parser.add_argument("--count", default="4")
    parser.add_argument("--misses", default="0")
    args = parser.parse_args()
    subprocess.run(["cmake", "--build", BUILD, "--target", "extract_evaluate", "millrace-document", "millrace-samples"], check=True,
                   stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "set"
        pages = pathlib.Path(name) / "pages"
        pages.mkdir()
        subprocess.run([BUILD / "millrace-samples", "set", "--seed", args.seed, "--count", args.count, "--out", folder], check=True,
                       stdout=subprocess.DEVNULL)
        files = [entry for entry in json.loads((folder / "truth.json").read_text())["files"]
                 if entry.get("expected_state", "completed") == "completed" and entry["pages"]]
        tasks = [(entry, number) for entry in files for number in range(1, len(entry["pages"]) + 1)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            read = list(pool.map(lambda task: read_page(folder, *task), tasks))
        for (entry, _), page in zip(tasks, read):
            with (pages / (entry["file"] + ".jsonl")).open("a") as out:
                out.write(page + "\n")
        evaluate = BUILD / "extract_evaluate"
        print(f"seed {args.seed}, count {args.count}, {len(tasks)} pages: from the truth's text", flush=True)
        subprocess.run([evaluate, folder, "--misses", args.misses], check=True)
        print("from pages as they were read", flush=True)
        subprocess.run([evaluate, folder, "--pages", pages, "--misses", args.misses], check=True)


main()
