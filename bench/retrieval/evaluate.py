#!/usr/bin/env python3
"""How often search finds the passage that answers a question, with the default model and everything as it ships.

`millrace up` on a database of its own takes in documents/, new/ and fresh/ through the pipeline ingest; every question of questions.tsv, questions_new.tsv and
questions_fresh.tsv is asked over HTTP in each mode. A passage counts as found when a chunk among the first k, of the right document, holds the quoted sentence, or at least half of it where a chunk
ends within.

Questions are of three kinds. `direct` ones use words of the passage; `paraphrase` ones say it otherwise; `other` ones are in German and French, which
the default model was not made for, and stand apart. Defaults (sizes of chunks, weights) were chosen on the questions of every other document, by name;
the rest is `held out`, and was not looked at meanwhile. `new` documents, of kinds that the others are not, and their questions were written after that, and
before any of them was asked; no weight is chosen by them. `fresh` ones were written after the last change of the ranking, by somebody who did not look at it. Groups of words (millrace.word_groups) were written by somebody who knew questions of the first three, and none of the fresh ones.

  python3 bench/retrieval/evaluate.py [--build build/release] [--without fresh] [--distractors] [--misses tuning|all] [--json FILE]

The questions of documents/ are asked twice: among these documents alone (`alone`), and again when the later sets are there too. --without leaves a set out, documents and
questions, so that whoever chooses weights never sees it. --distractors takes in docs/*.md as well, so that there are several times as many chunks to be wrong about. Ends with 1 where hybrid finds less than 0.9
at five, or not more than text or vectors alone, with or without the later sets.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
USER = "00000000-0000-4000-8000-0000000000be"
MODES = ("text", "vector", "hybrid")
PLACES = (1, 5, 10)
LATER = ("new", "fresh")  # Sets that nothing is chosen by.


class Server:
    def __init__(self, build, folder):
        self.build, self.data = build, folder / "data"
        ready = folder / "ready.json"
        self.process = subprocess.Popen(
            [build / "millrace", "--data-dir", self.data, "--log-level", "warn", "up", "--listen", "127.0.0.1:0", "--slots", "4", "--ready-file", ready],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not ready.exists():
            if self.process.poll() is not None:
                sys.exit("millrace up ended before it was ready")
            time.sleep(0.05)
        self.url = json.loads(ready.read_text())["http_url"]
        self.token = subprocess.run([build / "millrace", "--data-dir", self.data, "token", "create", "--role", "authenticated", "--user", USER],
                                    check=True, capture_output=True, text=True).stdout.strip()

    def call(self, path, data=None, kind="application/octet-stream"):
        request = urllib.request.Request(self.url + path, data=data, headers={"Authorization": "Bearer " + self.token, "Content-Type": kind})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read())

    def add(self, name, content):
        query = urllib.parse.urlencode({"file_name": name, "pipeline": "ingest"})
        return self.call(f"/api/v1/uploads?{query}", content)["id"]

    def wait(self, document):
        while (state := self.call(f"/api/v1/documents/{document}")["state"]) in ("uploaded", "processing"):
            time.sleep(0.05)
        return state

    def search(self, question, mode):
        body = json.dumps({"query": question, "mode": mode, "limit": max(PLACES)}).encode()
        answer = self.call("/api/v1/search", body, "application/json")
        if answer["mode"] != mode:
            sys.exit(f"asked for {mode}, searched by {answer['mode']}: {answer['notice']}")
        return answer["passages"]

    def stop(self):
        self.process.terminate()
        self.process.wait()


def read_table(name):
    questions = []
    for line in (HERE / name).read_text().splitlines():
        if line and not line.startswith("#"):
            document, kind, question, passage = line.split("\t")
            questions.append({"document": document, "kind": kind, "question": question, "passage": passage})
    return questions


def read_questions(laters):
    questions = read_table("questions.tsv")
    order = sorted({one["document"] for one in questions})
    for one in questions:
        one["half"] = "tuning" if order.index(one["document"]) % 2 == 0 else "held out"
    return questions + [one | {"half": later} for later in laters for one in read_table(f"questions_{later}.tsv")]


def plain(text):
    return re.sub(r"[^\w]+", " ", text.replace("\\", "")).strip().lower()


def holds(text, passage):
    text, passage = plain(text), plain(passage)
    words = passage.split()
    half = len(words) // 2 + 1
    return passage in text or len(words) >= 8 and (" ".join(words[:half]) in text or " ".join(words[-half:]) in text)


def figures(questions, mode):
    places = [one["found"][mode] for one in questions]
    count = max(1, len(places))
    out = {f"recall@{k}": sum(1 for place in places if place and place <= k) / count for k in PLACES}
    out["mrr"] = sum(1 / place for place in places if place) / count
    return out


def take_in(server, files):
    begun = time.monotonic()
    ids = {name: server.add(name.replace("/", "_"), path.read_bytes()) for name, path in files.items()}
    for name, document in ids.items():
        if (state := server.wait(document)) != "completed":
            sys.exit(f"{name} ended as {state}")
    print(f"{len(ids)} documents taken in within {time.monotonic() - begun:.1f} s")
    return ids


def ask(server, one, ids):
    def place(mode):
        hits = server.search(one["question"], mode)
        return next((hit["rank"] for hit in hits if hit["document_id"] == ids[one["document"]] and holds(hit["text"], one["passage"])), None)

    return {mode: place(mode) for mode in MODES}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--without", action="append", choices=LATER, default=[], help="a set to leave out; may be given again")
    parser.add_argument("--distractors", action="store_true")
    parser.add_argument("--misses", choices=("tuning", "all"), help="show what hybrid does not find at five")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    laters = [later for later in LATER if later not in arguments.without]
    questions = read_questions(laters)
    main_set = [one for one in questions if one["kind"] != "other" and one["half"] not in LATER]
    files = {str(path.relative_to(HERE / "documents")): path for path in sorted((HERE / "documents").glob("*/*"))}
    later_files = {str(path.relative_to(HERE)): path for later in laters for path in sorted((HERE / later).glob("*"))}
    if arguments.distractors:
        files.update({f"docs/{path.name}": path for path in sorted((ROOT / "docs").glob("*.md"))})
    with tempfile.TemporaryDirectory() as folder:
        server = Server(arguments.build.resolve(), pathlib.Path(folder))
        try:
            ids = take_in(server, files)
            alone = [one | {"found": ask(server, one, ids)} for one in main_set] if later_files else []
            ids |= take_in(server, later_files)
            begun = time.monotonic()
            for one in questions:
                one["found"] = ask(server, one, ids)
            print(f"{len(questions) * len(MODES)} searches, {1000 * (time.monotonic() - begun) / len(questions) / len(MODES):.1f} ms each\n")
        finally:
            server.stop()
    later = [one for one in questions if one["half"] in LATER]
    groups = {"all": main_set, "tuning": [one for one in main_set if one["half"] == "tuning"], "held out": [one for one in main_set if one["half"] == "held out"],
              "direct": [one for one in main_set if one["kind"] == "direct"], "paraphrase": [one for one in main_set if one["kind"] == "paraphrase"],
              **{f"{half} {kind}".strip(): [one for one in later if one["half"] == half and one["kind"].startswith(kind)] for half in laters for kind in ("", "direct", "paraphrase")},
              "German and French": [one for one in questions if one["kind"] == "other"],
              **{f"alone, {name}": [one for one in alone if name in ("all", one["half"], one["kind"])] for name in ("all", "tuning", "held out", "direct", "paraphrase") if alone}}
    result = {name: {mode: figures(group, mode) for mode in MODES} | {"questions": len(group)} for name, group in groups.items()}
    print(f"{'':20} {'':8}" + "".join(f"{name:>11}" for name in (*(f"recall@{k}" for k in PLACES), "mrr")))
    for name, group in result.items():
        for mode in MODES:
            head = f"{name} ({group['questions']})" if mode == MODES[0] else ""
            print(f"{head:22} {mode:8}" + "".join(f"{value:11.3f}" for value in group[mode].values()))
    if arguments.misses:
        for one in main_set + later:
            if one["half"] != "tuning" and arguments.misses != "all":
                continue
            if not one["found"]["hybrid"] or one["found"]["hybrid"] > 5:
                print(f"  {one['found']} {one['document']}: {one['question']}")
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2))
    held = [holds_bar(result[name], name) for name in ("alone, all", "all") if name in result]
    return 0 if all(held) else 1


def holds_bar(every, name):
    best_alone = max(every["text"]["recall@5"], every["vector"]["recall@5"])
    held = every["hybrid"]["recall@5"] >= 0.9 and every["hybrid"]["recall@5"] > best_alone
    print(f"bar ({name}): hybrid recall@5 {every['hybrid']['recall@5']:.3f} (0.9), one way only {best_alone:.3f}: {'held' if held else 'missed'}")
    return held


if __name__ == "__main__":
    sys.exit(main())
