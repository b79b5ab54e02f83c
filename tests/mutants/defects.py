"""docs/defects.md, made from rules.txt and the mutants' headers."""
import pathlib
import re

from mutant import HERE, ROOT

TARGET = ROOT / "docs/defects.md"
LINE_MAX = 100
HEAD = """\
# Faults we do not repeat

Each rule of the list of design faults (groups A to G and I to K) that concerns jobs: what Millrace does about it, the test that would
notice, and a break that makes that test fail. Every break is a file in `tests/mutants/`; `make mutants` applies each one, runs
the test and sees it fail, and sees it pass without the break. This page is made from those files by `tools/mutants --defects`.

Rules that are not here belong to parts that do not exist yet: pipelines of others (F06, G05, I12), webhooks (H), untrusted
content (J04, J05, J07); or are not about SQL: I09, I11, I13, K02, K04, K05, K07, K09, C16, G09.

| Rule | Millrace | Test | Break |
| --- | --- | --- | --- |
"""
CHAOS_HEAD = """
## For the checker

Breaks that show only while processes are killed. Each one makes the checker of the chaos runs report its category.

| Category | Break |
| --- | --- |
"""


def read_rules():
    """[(rule, what Millrace does, further tests)] in the order of the file."""
    rules = []
    for block in (HERE / "rules.txt").read_text().strip().split("\n\n"):
        lines = block.splitlines()
        found = re.fullmatch(r"([A-Z]\d\d): (.+)", lines[0])
        if not found:
            raise SystemExit(f"rules.txt: {lines[0]}")
        also = lines[1].removeprefix("also: ") if len(lines) > 1 else ""
        rules.append((found[1], found[2], also))
    return rules


def code(text):
    return "`" + text.strip().replace("|", "\\|") + "`"


def shortened(old, new):
    """Both lines; of long ones the words that differ and a few around them."""
    old, new = old.strip(), new.strip()
    if max(len(old), len(new)) <= LINE_MAX:
        return old, new
    before = 0
    while before < min(len(old), len(new)) and old[before] == new[before]:
        before += 1
    after = 0
    while after < min(len(old), len(new)) - before and old[-1 - after] == new[-1 - after]:
        after += 1
    start = max(0, before - 30)
    start = old.rfind(" ", 0, start) + 1 if start else 0
    end = max(0, after - 30)

    def cut(line):
        stop = len(line) - end
        stop = line.find(" ", stop) if end and line.find(" ", stop) > 0 else len(line)
        return ("…" if start else "") + line[start:stop] + ("…" if stop < len(line) else "")
    return cut(old), cut(new)


def describe(mutant):
    link = f"[{mutant.what}](../{mutant.path.relative_to(ROOT)})"
    if len(mutant.hunks) != 1:
        return link
    hunk = mutant.hunks[0]
    removed = [line[1:] for line in hunk.lines if line[0] == "-"]
    added = [line[1:] for line in hunk.lines if line[0] == "+"]
    file = pathlib.Path(hunk.file).name
    if len(removed) == 1 and len(added) == 1:
        old, new = shortened(removed[0], added[0])
        return f"{link}: {file}: {code(old)} → {code(new)}"
    if len(removed) == 1 and not added:
        return f"{link}: {file}: {code(shortened(removed[0], removed[0])[0])} is gone"
    return f"{link}: {file}"


def page(mutants):
    text = HEAD
    for rule, what, also in read_rules():
        first = True
        for m in [m for m in mutants if rule in m.rules and m.kind != "chaos"]:
            lead = f"| {rule} | {what}{'; ' + also if also else ''} " if first else "| | "
            text += f"{lead}| {code(m.program)} {code(m.test)} | {describe(m)} |\n"
            first = False
        if first:
            text += f"| {rule} | {what}{'; ' + also if also else ''} | | |\n"
    chaos = [m for m in mutants if m.kind == "chaos"]
    if chaos:
        text += CHAOS_HEAD
        text += "".join(f"| {m.category} | {describe(m)} |\n" for m in sorted(chaos, key=lambda m: m.category))
    return text


def main(mutants, errors, check):
    known = {rule for rule, _, _ in read_rules()}
    errors += [f"{m.label}: rules.txt does not know {rule}" for m in mutants for rule in m.rules if rule not in known]
    used = {rule for m in mutants for rule in m.rules}
    errors += [f"rules.txt: no mutant breaks {rule}" for rule in sorted(known - used)]
    if errors:
        print("\n".join(errors))
        return 1
    text = page(mutants)
    if not check:
        TARGET.write_text(text)
    elif TARGET.read_text() != text:
        print("docs/defects.md does not follow the mutants: run tools/mutants --defects")
        return 1
    print(f"mutants: {len(mutants)} apply, docs/defects.md is current")
    return 0
