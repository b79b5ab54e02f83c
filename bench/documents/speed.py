#!/usr/bin/env python3
"""How fast a document becomes a searchable PDF, beside ocrmypdf on the same machine.

Two times are taken of Millrace, from the first byte of the upload over HTTP: until the searchable PDF can be fetched, which is all that
ocrmypdf makes, and until the document has ended, with spatial map, three passes by `local` and every output, each step durable. Both get
the same files, in turns; the medians of the repeats and their ratios are printed, with the share of the truth's words that each PDF lacks.
Millrace's readers give way to whatever else runs, ocrmypdf does not: seconds say something only on a machine that does nothing else. Processor
seconds, of the database and of all processes, are printed too.
Goals: to the searchable PDF 1.2 x ocrmypdf for scans and 3 x `--skip-text` for born-digital pages, no more words missing than in its PDF, and 150 MB of memory
for server and worker. Ends with 1 if one is missed. Needs `ocrmypdf` (Debian's) and the release build.

  python3 bench/documents/speed.py [--pages 100] [--born 300] [--repeats 3]
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from running import ROOT, Millrace, make_sample

sys.path.insert(0, str(ROOT / "bench"))

from verdicts import Verdicts  # noqa: E402

TIMES = {"scan": 1.2, "born": 3.0}  # Faster than ocrmypdf, to the searchable PDF.
MEMORY_MB = 150


def words_of(pdf):
    return subprocess.run(["pdftotext", "-layout", pdf, "-"], check=True, capture_output=True, text=True).stdout.split()


def missing_share(truth, pdf):
    """Share of the truth's words that the PDF's text does not have, whatever their order."""
    found = {}
    for word in words_of(pdf):
        found[word] = found.get(word, 0) + 1
    missing = 0
    for word in truth:
        if found.get(word, 0) > 0:
            found[word] -= 1
        else:
            missing += 1
    return missing / max(1, len(truth))


def ocrmypdf(arguments, source, target):
    begun, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["ocrmypdf", "--quiet", *arguments, "--jobs", "2", "--output-type", "pdf", "--optimize", "0", source, target],
                   check=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - begun, after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime


def run(folder, kind, pages, repeats, arguments, verdicts):
    ours, whole, theirs, our_missing, their_missing, our_cpu, their_cpu = [], [], [], [], [], [], []
    millrace = Millrace(folder)
    try:
        for repeat in range(repeats):
            # Another seed each time: nothing can be taken over from an equal page.
            source = folder / f"{kind}{repeat}.pdf"
            make_sample(kind, pages, 101 + repeat, source)
            truth = json.loads(pathlib.Path(str(source) + ".truth.json").read_text())
            files = truth["files"] if "files" in truth else [truth]
            words = [word for page in files[0]["pages"] for word in page["text"].split()]
            took, ended, pdf = millrace.process_file(source.name, source.read_bytes())
            (folder / "ours.pdf").write_bytes(pdf)
            ours.append(took)
            whole.append(ended)
            our_cpu.append(millrace.cpu)
            our_missing.append(missing_share(words, folder / "ours.pdf"))
            peer, used = ocrmypdf(arguments, source, folder / "theirs.pdf")
            theirs.append(peer)
            their_cpu.append(used)
            their_missing.append(missing_share(words, folder / "theirs.pdf"))
            print(f"  {kind} {repeat + 1}/{repeats}: {took:.2f} s (all of it {ended:.2f} s), ocrmypdf {theirs[-1]:.2f} s", file=sys.stderr, flush=True)
        peak = millrace.memory_mb()
    finally:
        millrace.stop()
    a, b, c = statistics.median(ours), statistics.median(theirs), statistics.median(whole)
    print(f"{kind}, {pages} pages, to the searchable PDF: {pages / a:.2f} pages/s, ocrmypdf {' '.join(arguments)} {pages / b:.2f} pages/s: {b / a:.2f} x")
    print(f"  with all passes and outputs: {pages / c:.2f} pages/s, {b / c:.2f} x")
    print(f"  seconds {[round(x, 2) for x in ours]} and {[round(x, 2) for x in whole]} beside {[round(x, 2) for x in theirs]}; words missing {statistics.median(our_missing):.2%} "
          f"beside {statistics.median(their_missing):.2%}; peak of the worker and server {peak:.0f} MB")
    early, late, peer = (statistics.median(figures) for figures in ([cpu[0] for cpu in our_cpu], [cpu[1] for cpu in our_cpu], their_cpu))
    print(f"  processor seconds, which do not depend on what else runs: {early:.2f} to the PDF, {late:.2f} in all, ocrmypdf {peer:.2f}: {peer / early:.2f} x")
    name = f"{kind}, {pages} pages"
    verdicts.at_least(f"{name}: searchable PDF, times ocrmypdf", b / a, TIMES[kind], form=".2f")
    verdicts.told(f"{name}: with all passes and outputs, times", b / c, form=".2f")
    verdicts.told(f"{name}: searchable PDF by processor seconds, times", peer / early, form=".2f")
    verdicts.at_most(f"{name}: words missing, {statistics.median(their_missing):.2%} in the other PDF", statistics.median(our_missing), statistics.median(their_missing), form=".4f")
    verdicts.at_most(f"{name}: server and worker, MB", peak, MEMORY_MB, form=".0f")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--born", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if shutil.which("ocrmypdf") is None:
        sys.exit("ocrmypdf is not installed: apt-get install ocrmypdf")
    version = subprocess.run(["ocrmypdf", "--version"], capture_output=True, text=True).stdout.strip()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, ocrmypdf {version}, medians of {options.repeats}")
    verdicts = Verdicts()
    for kind, pages, arguments in (("scan", options.pages, []), ("born", options.born, ["--skip-text"])):
        if pages > 0:
            with tempfile.TemporaryDirectory() as name:
                os.chmod(name, 0o755)
                run(pathlib.Path(name), kind, pages, options.repeats, arguments, verdicts)
    return verdicts.end()


sys.exit(main())
