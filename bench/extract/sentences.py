#!/usr/bin/env python3
"""Recall and precision of the offline provider `local` on ordinary clinical sentences that were written by hand, each with what it says.

    bench/extract/sentences.py [--part mended|held_out] [--misses]

Two parts in `sentences/`: by `mended.txt` rules were mended, `held_out.txt` was run before and after that and its misses were not looked at. Both
were written by one hand, before any of them was run. They share nothing with the lists of the extractor; no sentence is a rule of its own.

A block is a sentence (" ¶ " parts lines) and a line for each fact: a kind, names that are right ("a or b"; "*" is any), and behind bars a dose or
value with its UCUM unit, "freq", "reaction", "range", "text" (a result in words), or an assertion ("negated", "family", "historical",
"hypothetical", "possible", "current"; "a/b": either; none: affirmed, now, the patient's). "?" before a fact: it may be said and need not. Facts under 0.5,
which routing drops, are not said. `open` counts what is wrong and goes on without a look by a person: a wrong name, dose, value or assertion.
Ends with 1 under the floors below, which are what was reached.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/extract")]

from scoring import Part, plain  # noqa: E402
from verdicts import Verdicts  # noqa: E402

BUILD = ROOT / os.environ.get("MILLRACE_BUILD", "build/release")
PARTS = ("mended", "held_out")
KINDS = {"MedicationStatement": "medication", "Observation": "lab", "Condition": "condition", "AllergyIntolerance": "allergy", "Procedure": "procedure"}
DETAILS = ("dose", "freq", "reaction", "range", "assertion")
ACCEPTED = {"medication": 0.90, "allergy": 0.90}  # Others from 0.85; docs/clinical-passes.md.
ACCEPTED_ELSE, DROPPED = 0.85, 0.50
FLOORS = {
    "mended": {
        "allergy": (1.00, 1.00),
        "allergy reaction": (1.00, 1.00),
        "condition": (0.97, 0.95),
        "condition assertion": (0.96, 0.98),
        "date": (1.00, 1.00),
        "lab": (0.95, 0.97),
        "medication": (0.98, 1.00),
        "medication assertion": (0.97, 0.98),
        "medication dose": (1.00, 1.00),
        "medication freq": (1.00, 1.00),
    },
    "held_out": {
        "allergy": (0.94, 1.00),
        "condition": (0.88, 0.91),
        "condition assertion": (0.86, 0.98),
        "lab": (0.88, 1.00),
        "medication": (1.00, 1.00),
        "medication assertion": (0.97, 0.97),
        "medication dose": (1.00, 1.00),
        "medication freq": (1.00, 1.00),
        "vital": (1.00, 1.00),
    },
}  # By kind: recall and precision.

Fact = collections.namedtuple("Fact", "kind names optional details")


def quantity(text):
    found = re.fullmatch(r"(<=?|>=?)?\s*([\d.]+)\s*(.*)", text)
    return (found[1] or "", float(found[2]), found[3])


def marks(words):
    return frozenset(words.split()) - {"current"}


def fact_of(line):
    """One expected fact: what is not written is expected not to be said, but for ranges and reactions, which are judged where they are written."""
    optional, line = line.startswith("?"), line.removeprefix("?")
    head, *fields = (field.strip() for field in line.split("|"))
    kind, _, names = head.partition(" ")
    details = {"assertion": {frozenset()}}
    for field in fields:
        word, _, rest = field.partition(" ")
        if field == "*" or field[0].isdigit() or field[0] in "<>":
            details["dose" if kind == "medication" else "value"] = None if field == "*" else field if kind == "vital" else quantity(field)
        elif word in ("freq", "reaction", "text"):
            details[word] = None if rest == "*" else {plain(one) for one in rest.split(" or ")}
        elif word == "range":
            details["range"] = rest
        else:
            details["assertion"] = {marks(one) for one in field.split("/")}
    return Fact(kind, None if names == "*" else {plain(name) for name in names.split(" or ")}, optional, details)


def read(path):
    blocks = []
    for block in path.read_text().split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if lines:
            blocks.append((lines[0], [fact_of(line) for line in lines[1:]]))
    return blocks


def said_of(one):
    """What was said of a sentence: facts in the same form, with whether they go on without a look."""
    entities = {entity["id"]: entity for entity in one["detection"]["entities"]}
    for fact in one["extraction"]["facts"]:
        if fact["type"] not in KINDS or fact["conf"] < DROPPED:
            continue
        kind, value, told = KINDS[fact["type"]], fact["value"], fact["assertion"]
        if kind == "lab" and entities[fact["evidence"][0]]["category"] == "VITAL_SIGN":
            kind = "vital"
        asserted = {"negated": told["polarity"] == "negated", "family": fact["subject"] == "family", "historical": told["temporality"] == "historical",
                    "hypothetical": told["temporality"] in ("hypothetical", "future"), "possible": told["certainty"] != "definite"}
        details = {"assertion": frozenset(name for name, holds in asserted.items() if holds)}
        if kind == "medication" and value["dose"]:
            details["dose"] = ("", value["dose"]["value"], value["dose"]["unit"] or "")
        if kind == "medication" and value["frequency"]:
            details["freq"] = plain(value["frequency"])
        if kind in ("lab", "vital"):
            measured = value["value"] or {}
            if measured.get("value") is not None:
                details["value"] = (value["comparator"] or "", measured["value"], measured.get("unit") or "")
            elif value["text"]:
                details["text"] = value["text"] if kind == "vital" else plain(value["text"])
            if value["range"]:
                details["range"] = "..".join(f"{end:g}" if end is not None else "" for end in (value["range"]["low"], value["range"]["high"]))
        if kind == "allergy" and value["reaction"]:
            details["reaction"] = plain(value["reaction"])
        named = plain(value.get("drug") or value.get("substance") or value.get("name") or "")
        yield kind, named, details, fact["conf"] >= ACCEPTED.get(kind, ACCEPTED_ELSE)
    for entity in entities.values():
        if entity["category"] == "DATE":
            yield "date", plain(entity["text"]), {"assertion": frozenset()}, True


def is_named(fact, kind, name, details):
    if fact.kind != kind or (fact.names is not None and name not in fact.names):
        return False
    # Results are what is compared of tests; whether it is an allergy or none is a part of what an allergy is.
    if kind == "lab":
        return fact.details.get("value") == details.get("value") and ("text" not in fact.details or details.get("text") in fact.details["text"])
    if kind == "vital":
        said = details["text"] if "text" in details else f"{details['value'][1]:g}" if "value" in details else ""
        return plain(said).removesuffix("mmhg") == plain(fact.details.get("value", ""))
    if kind == "allergy":
        return any(("negated" in one) == ("negated" in details["assertion"]) for one in fact.details["assertion"])
    return True


def agrees(detail, fact, details):
    """Whether a detail that was said is the expected one. `None` is any."""
    wanted = fact.details.get(detail, ())
    if wanted is None:
        return True
    if detail == "assertion" or detail in ("freq", "reaction"):
        return details.get(detail) in wanted
    return details.get(detail) == wanted


class Scores:
    def __init__(self):
        self.parts = collections.defaultdict(Part)
        self.open = collections.Counter()
        self.sentences = self.whole = 0
        self.lines = []

    def add(self, sentence, expected, said):
        wrong = []
        for fact in expected:
            if fact.optional:
                continue
            found = [details for kind, name, details, _ in said if is_named(fact, kind, name, details)]
            self.count(fact.kind, truth=1, found=bool(found))
            if not found:
                wrong.append(f"missed {fact.kind} {'/'.join(sorted(fact.names or ['*']))} {fact.details}")
            for detail in self.judged(fact):
                held = any(agrees(detail, fact, details) for details in found)
                self.count(f"{fact.kind} {detail}", truth=1, found=held)
                if found and not held:
                    wrong.append(f"missed {fact.kind} {detail} of {'/'.join(sorted(fact.names or ['*']))}: {fact.details[detail]}")
        for kind, name, details, accepted in said:
            fits = [fact for fact in expected if is_named(fact, kind, name, details)]
            if fits and all(fact.optional for fact in fits):
                continue
            errors = []
            self.count(kind, said=1, right=bool(fits))
            if not fits:
                errors.append(f"wrong  {kind} {name} {details}")
            else:
                errors = list(self.wrong_details(kind, name, details, fits))
            if errors:
                wrong += [error + ("  OPEN" if accepted else "") for error in errors]
                self.open[kind] += accepted
        self.sentences += 1
        self.whole += not wrong
        self.lines += [f"{sentence}\n    {line}" for line in wrong]

    @staticmethod
    def judged(fact):
        """Details of a fact that are counted: those that are written, and assertions where there are some."""
        for detail in DETAILS:
            if detail == "assertion" and fact.kind not in ("medication", "condition"):
                continue
            if fact.details.get(detail):
                yield detail

    def wrong_details(self, kind, name, details, fits):
        for detail in DETAILS:
            if detail not in details or (detail == "assertion" and kind not in ("medication", "condition")):
                continue
            if detail in ("range", "reaction") and not any(detail in fact.details for fact in fits):
                continue
            right = any(agrees(detail, fact, details) for fact in fits)
            self.count(f"{kind} {detail}", said=1, right=right)
            if not right:
                yield f"wrong  {kind} {detail} of {name}: {details[detail]}"

    def count(self, kind, **counts):
        for name, by in counts.items():
            setattr(self.parts[kind], name, getattr(self.parts[kind], name) + by)

    def table(self):
        yield f"{'kind':22} {'truth':>6} {'said':>6} {'recall':>7} {'prec.':>7} {'open':>5}"
        for kind in sorted(self.parts):
            part = self.parts[kind]
            yield f"{kind:22} {part.truth:6} {part.said:6} {part.recall():7.3f} {part.precision():7.3f} {self.open.get(kind, '' if ' ' in kind else 0):>5}"
        yield f"{self.whole} of {self.sentences} sentences without a mistake"


def run(part):
    blocks = read(ROOT / "bench/extract/sentences" / f"{part}.txt")
    with tempfile.TemporaryDirectory() as folder:
        files = [{"file": str(number), "facts": [{}], "pages": [{"words": [], "text": sentence.replace(" ¶ ", "\n")}]}
                 for number, (sentence, _) in enumerate(blocks)]
        (pathlib.Path(folder) / "truth.json").write_text(json.dumps({"files": files}))
        done = subprocess.run([BUILD / "extract_passes", folder], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"extract_passes: {done.stderr[:300]}")
    said = {one["file"]: list(said_of(one)) for one in map(json.loads, done.stdout.splitlines())}
    scores = Scores()
    for number, (sentence, expected) in enumerate(blocks):
        scores.add(sentence, expected, said.get(str(number), []))
    return scores


def judge(part, scores, verdicts):
    for kind, (recall, precision) in FLOORS.get(part, {}).items():
        verdicts.at_least(f"{part}: {kind}, recall", scores.parts[kind].recall(), recall)
        verdicts.at_least(f"{part}: {kind}, precision", scores.parts[kind].precision(), precision)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--misses", action="store_true", help="print what was missed and what is wrong, of the part that rules are mended by")
    arguments = parser.parse_args()
    verdicts = Verdicts()
    for part in [arguments.part] if arguments.part else PARTS:
        scores = run(part)
        print(f"{part}.txt")
        for line in scores.table():
            print(line)
        if arguments.misses and part != "held_out":
            print("\n".join(scores.lines))
        judge(part, scores, verdicts)
    return verdicts.end()


if __name__ == "__main__":
    sys.exit(main())
