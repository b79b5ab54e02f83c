#!/usr/bin/env python3
"""Character error rates of millrace-document against `tesseract --psm 1` on generated pages.

    bench/ocr/accuracy.py --seed 7 [--count 4] [--only skewed,noisy] [--set DIR] [--keep DIR]
    bench/ocr/accuracy.py --pdf manual.pdf.gz,other.pdf [--count 8]

Makes a set with millrace-samples, reads every page that is a scan with both, and prints a table by class and one by effect. Tesseract gets
the page as pdftoppm renders it at 300 dpi (image files as they are), the language of the truth, and finds the orientation itself. Two pages
at a time, one thread each. Seeds that were looked at while tuning say little: judge on others.

With --pdf the set is pages of documents that were not made here, evenly spread over each: they are rendered and read by both, and the truth
is what `pdftotext -raw` finds in their text layer (hyphens as they stand). They are born digital and in English.

The goals are printed at the end: skewed, noisy and photographed pages with at most half of Tesseract's errors, all others at most 2 points worse than it.
Ends with 1 if one is missed.
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from verdicts import Verdicts  # noqa: E402

BUILD = ROOT / os.environ.get("MILLRACE_BUILD", "build/release")
LANGUAGES = {"en": "eng", "de": "deu", "fr": "fra", "es": "spa"}
ENV = dict(os.environ, OMP_THREAD_LIMIT="1")
SKIP = {"born", "docx", "text"}
HALF = {"skewed", "noisy", "photo"}  # Classes where half of Tesseract's errors are allowed.
POINTS = 2  # Of a per cent, that others may be worse.
TEXT_MIN = 200  # Characters of a page's text layer, for it to count.


def run(args, **more):
    return subprocess.run(args, env=ENV, capture_output=True, **more)


def page_text(page):
    """The text of a spatial/1 page: spaces between words, line ends between lines, as its offsets say."""
    out, line, block = [], 0, 0
    for word in page["words"]:
        if out:
            out.append("\n\n" if word["block"] != block else "\n" if word["line"] != line else " ")
        out.append(word["text"])
        line, block = word["line"], word["block"]
    return "".join(out)


def read_ours(file, kind, page, languages, mode):
    request = {"op": "read", "kind": kind, "page": page, "mode": mode, "languages": languages}
    done = run([BUILD / "millrace-document", "--run", json.dumps(request), file])
    if done.returncode != 0:
        return None, done.stderr.decode(errors="replace")[:300]
    return json.loads(done.stderr), ""


def read_tesseract(file, kind, page, language, work):
    image = file
    if kind == "pdf":
        stem = work / f"{file.stem}-{page}"
        run(["pdftoppm", "-r", "300", "-gray", "-png", "-f", str(page), "-l", str(page), "-singlefile", file, stem])
        image = stem.with_suffix(".png")
    return run(["tesseract", image, "-", "--psm", "1", "-l", language]).stdout.decode(errors="replace")


def compare(truth, reading, stem):
    a, b = stem.with_suffix(".truth.txt"), stem.with_suffix(".reading.txt")
    a.write_text(truth)
    b.write_text(reading)
    return json.loads(run([BUILD / "millrace-document", "--compare", a, b]).stdout)


def measure(entry, number, folder, work, args):
    file = folder / entry["file"]
    kind = "pdf" if file.suffix == ".pdf" else "image"
    truth = entry["pages"][number - 1]["text"]
    language = LANGUAGES[entry["language"]]
    ours, why = read_ours(file, kind, number, args.languages.split("+") if args.languages else [language],
                          entry.get("mode", "auto"))
    cache = folder / f"{file.stem}-{number}.tesseract.txt"
    if not cache.exists():
        cache.write_text(read_tesseract(file, kind, number, language, work))
    text = page_text(ours["page"]) if ours else ""
    stem = work / f"{file.stem}-{number}"
    mine = compare(truth, text, stem.with_name(stem.name + "-ours"))
    theirs = compare(truth, cache.read_text(), stem.with_name(stem.name + "-tesseract"))
    if args.keep:
        keep = pathlib.Path(args.keep)
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{file.stem}-{number}.truth.txt").write_text(truth)
        (keep / f"{file.stem}-{number}.ours.txt").write_text(text)
        (keep / f"{file.stem}-{number}.tesseract.txt").write_text(cache.read_text())
    effects = [e.split(" ")[0] for e in entry.get("effects", [])] or [entry["class"]]
    return {"file": file.name, "page": number, "class": entry["class"], "effect": "+".join(effects), "why": why,
            "confidence": ours["confidence"] if ours else 0, "skew": ours["skew_deg"] if ours else 0,
            "n": mine["characters"], "ours": mine["errors"], "theirs": theirs["errors"], "recall": mine["word_recall"]}


def groups_of(rows, key):
    """Name → pages, characters, our errors, Tesseract's."""
    groups = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return {name: (len(members), *(sum(row[column] for row in members) for column in ("n", "ours", "theirs"))) for name, members in groups.items()}


def table(rows, key):
    print(f"{key:24} pages  chars   ours %  tesseract %  ratio")
    for name, (pages, n, a, b) in groups_of(rows, key).items():
        print(f"{name:24} {pages:5} {n:6} {100 * a / max(1, n):8.3f} {100 * b / max(1, n):12.3f} {a / b if b else float('nan'):6.2f}")


def judge(rows):
    verdicts = Verdicts()
    for name, (_, n, a, b) in groups_of(rows, "class").items():
        ours, theirs = (100 * errors / n if n else float("nan") for errors in (a, b))
        if name in HALF:
            verdicts.at_most(f"{name}: errors in %, half of tesseract's {theirs:.3f}", ours, theirs / 2)
        else:
            verdicts.at_most(f"{name}: errors in %, tesseract's {theirs:.3f} and {POINTS}", ours, theirs + POINTS)
    return verdicts.end()


def packaged_set(names, count, folder):
    """truth.json and files of a set of PDFs that bring their text."""
    folder.mkdir(parents=True)
    files = []
    for name in map(pathlib.Path, names):
        stem = name.name.split(".")[0]
        file = folder / f"{stem}.pdf"
        file.write_bytes(gzip.decompress(name.read_bytes()) if name.suffix == ".gz" else name.read_bytes())
        texts = run(["pdftotext", "-raw", file, "-"]).stdout.decode(errors="replace").split("\f")[:-1]
        wanted = [i for i, text in enumerate(texts) if len(text) >= TEXT_MIN]
        chosen = {wanted[i * len(wanted) // count] for i in range(min(count, len(wanted)))} if len(wanted) > count else set(wanted)
        files.append({"file": file.name, "class": stem, "language": "en", "mode": "ocr",
                      "pages": [{"text": text, "text_layer": i not in chosen} for i, text in enumerate(texts)]})
    (folder / "truth.json").write_text(json.dumps({"files": files}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="7")
    parser.add_argument("--count", default="4")
    parser.add_argument("--only", default="")
    parser.add_argument("--set", help="a set that is there already")
    parser.add_argument("--pdf", help="documents with a text layer instead of a set, parted by commas")
    parser.add_argument("--keep", help="folder for texts, to look at")
    parser.add_argument("--languages", default="", help="given to us instead of the page's own, such as eng+deu+fra+spa")
    parser.add_argument("--pages", action="store_true", help="print every page")
    args = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="ocr-"))
    folder = pathlib.Path(args.set) if args.set else work / "set"
    if args.pdf:
        packaged_set(args.pdf.split(","), int(args.count), folder)
    elif not args.set:
        made = run([BUILD / "millrace-samples", "set", "--seed", args.seed, "--count", args.count, "--out", folder]
                   + (["--only", args.only] if args.only else []))
        if made.returncode != 0:
            sys.exit(made.stderr.decode())
    only = set(args.only.split(",")) if args.only else None
    tasks = []
    for entry in json.loads((folder / "truth.json").read_text())["files"]:
        wanted = entry["class"] not in SKIP and (only is None or entry["class"] in only)
        if wanted and entry.get("expected_state", "completed") == "completed":
            tasks += [(entry, number) for number, page in enumerate(entry["pages"], 1) if not page["text_layer"]]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda t: measure(t[0], t[1], folder, work, args), tasks))
    for row in rows:
        if args.pages or row["why"]:
            print("{file:28} {page:2} {effect:22} ours {a:7.3f} tesseract {b:7.3f} conf {confidence:.3f} skew {skew:6.2f} {why}".format(
                a=100 * row["ours"] / max(1, row["n"]), b=100 * row["theirs"] / max(1, row["n"]), **row))
    print("set: " + (args.set or f"{args.pdf or 'seed ' + args.seed}, count {args.count}"))
    table(rows, "class")
    if not args.pdf:
        table(rows, "effect")
    return judge(rows)


sys.exit(main())
