"""The minimal history of a violation: every line that concerns its job, tokens or key, in order, said for people.

The lines are read again from the files instead of being kept: only broken promises have stories, and they are few.
"""
import json
import re

from .evidence import read_lines
from .faults import OUTAGES
from .model import SECOND

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
NUMBER = re.compile(r'"n":\s*(\d+)')
HEAD = 10


def tell_stories(run, directory, verdict, options):
    books = [Book(v) for v in verdict.violations if v.ids and not v.story]
    if not books:
        return
    wanted = {}
    for book in books:
        for name in book.ids:
            wanted.setdefault(name, []).append(book)
    for path in run.files:
        read_file(path, wanted)
    read_dump(run, directory, wanted)
    for book in books:
        add_faults(run, book)
        book.violation.story = book.text(run, options.story_lines_max)


class Book:
    def __init__(self, violation):
        self.violation = violation
        self.ids = set(violation.ids)
        self.lines = []  # (t, actor, text)

    def add(self, t, actor, text):
        self.lines.append((t, actor, text))

    def text(self, run, most):
        """Formatted lines. What has no time of its own (rows of the dump) stands at the end."""
        self.lines.sort(key=lambda line: (line[0] is None, line[0] or 0))
        lines = self.lines
        width = min(30, max((len(actor) for _, actor, _ in lines), default=0))
        told = [f"{f'{run.seconds(t):10.3f} s' if t is not None else '       end  '}  {actor:<{width}}  {text}" for t, actor, text in lines]
        if len(told) > most:
            told = told[:HEAD] + [f"         …    ({len(told) - most + 1} lines left out)"] + told[len(told) - (most - HEAD - 1):]
        return told


def read_file(path, wanted):
    actor = path.stem
    open_calls = {}  # Number -> (books, op) of calls whose answer belongs to the story.
    last_t = None
    with open(path, encoding="utf-8", errors="replace") as file:
        for text in file:
            books = {id(b): b for name in set(UUID.findall(text)) if name in wanted for b in wanted[name]}
            line = None
            if '"enqueue"' in text or '"effect"' in text:
                line = parse(text)
                for name in [*line.get("keys", ()), line.get("key"), *(j.get("key") for j in line.get("jobs", ()) if isinstance(j, dict))]:
                    if name in wanted:
                        books.update((id(b), b) for b in wanted[name])
            if open_calls:
                number = NUMBER.search(text)
                joined = open_calls.get(int(number[1])) if number else None
                if joined and '"ph":"call"' not in text.replace(": ", ":"):
                    books.update((id(b), b) for b in joined[0])
                    del open_calls[int(number[1])]
            if not books:
                continue
            line = line or parse(text)
            if "t" not in line:
                continue
            last_t = line["t"]
            if line.get("ph") == "call" and "n" in line:
                open_calls[line["n"]] = (list(books.values()), line["op"])
            for book in books.values():
                for said in describe(line, book.ids):
                    book.add(line["t"], actor, said)
    for books, op in open_calls.values():
        for book in books:
            book.add(last_t, actor, f"{op}: no answer was ever written down")


def parse(text):
    try:
        line = json.loads(text)
        return line if isinstance(line, dict) else {}
    except ValueError:
        return {}


def short(name):
    name = str(name)
    return name[:8] if UUID.fullmatch(name) else name


def others(items):
    return f" (1 of {len(items)})" if len(items) > 1 else ""


def describe(line, ids):
    """What one line says about the jobs of a story; a batch is cut down to them."""
    op, phase = line.get("op"), line.get("ph")
    items = [i for i in line.get("jobs") or () if isinstance(i, dict)]
    mine = [i for i in items if ids & {i.get("job"), i.get("token"), i.get("key")}]
    if phase in ("fail", "unknown"):
        word = "failed, certainly not done" if phase == "fail" else "unknown whether done"
        return [f"{op}: {word} ({str(line.get('error', ''))[:80]})"]
    if op == "claim" and phase == "ok":
        return [f"claim: got job {short(i['job'])}, delivery {i.get('delivery', '?')}, token {short(i['token'])}{others(items)}" for i in mine]
    if op == "settle" and phase == "call":
        return [f"settle: asks for {i.get('outcome')} with token {short(i['token'])}{others(items)}" for i in mine]
    if op == "settle" and phase == "ok":
        return [f"settle: answered {a.get('answer')}" for a in line.get("answers", ()) if a.get("job") in ids]
    if op == "enqueue" and phase == "call":
        return [f"enqueue: asks for {name}{others(line.get('keys', ()))}" for name in line.get("keys", ()) if name in ids]
    if op == "enqueue" and phase == "ok":
        return [f"enqueue: answered {i.get('key')} = job {short(i.get('job'))}" for i in mine]
    if op == "run":
        return [f"handler {'started' if phase == 'start' else 'ended'}{', ' + str(line['outcome']) if 'outcome' in line else ''}, "
                f"token {short(line.get('token'))}"]
    if op == "effect":
        return [f"request arrived with key {short(line.get('key'))}, {'answered ' + str(line.get('status', '')) if line.get('answered', True) else 'not answered'}"]
    rest = {k: v for k, v in line.items() if k not in ("t", "op", "ph", "n") and not isinstance(v, (list, dict))}
    return [f"{op}{' ' + phase if phase else ''}: " + ", ".join(f"{k} {short(v)}" for k, v in rest.items())]


def read_dump(run, directory, wanted):
    def books(*names):
        return {id(b): b for name in names if name in wanted for b in wanted[name]}.values()

    for line in read_lines(directory, "audit.jsonl"):
        for book in books(*line["jobs"]):
            more = f", with {len(line['jobs']) - 1} others" if len(line["jobs"]) > 1 else ""
            book.add(run.mono(line.get("at")), "database", f"audit {line['audit_id']}: {line['action']}{more}"
                     f"{', ' + line['worker'] if line.get('worker') else ''}")
    for line in read_lines(directory, "attempts.jsonl"):
        for book in books(line.get("job_id"), line.get("token")):
            book.add(run.mono(line.get("ended_at")), "database", f"attempt: delivery {line.get('delivery_count')} ended {line['outcome']}, "
                     f"token {short(line.get('token'))}")
    for line in read_lines(directory, "ledger.jsonl"):
        for book in books(line.get("job_id"), line.get("token")):
            at = line.get("at")
            book.add(run.mono(at) if isinstance(at, (int, float)) else None, "ledger", f"effect of token {short(line.get('token'))}, "
                     f"delivery {line.get('delivery')}")
    for line in read_lines(directory, "jobs.jsonl"):
        for book in books(line.get("job_id"), line.get("key_id")):
            reason = f" ({line['reason']})" if line.get("reason") else ""
            book.add(None, "database", f"job {short(line['job_id'])} is {line.get('status')}{reason}, in {line.get('place') or 'no place'}, delivery "
                     f"{line.get('delivery_count')}, token {short(line.get('token'))}, expected {line.get('expect') or 'any'}")


def add_faults(run, book):
    """Faults that struck those who held the job, and the outages meanwhile."""
    actors = {run.tokens[i].actor.name for i in book.ids if i in run.tokens}
    for i in book.ids:
        if i in run.jobs:
            actors |= {d.actor.name for d in run.jobs[i].deliveries}
            actors |= {run.workers[lost.worker].name for lost in run.jobs[i].lost_deliveries if lost.worker in run.workers}
    times = [t for t, _, _ in book.lines if t is not None]
    if not times:
        return
    begin, end = min(times) - SECOND, max(times) + SECOND
    for fault in run.faults:
        if not begin <= fault.t <= end:
            continue
        if fault.actor is not None and fault.actor.name in actors:
            whom = f" {fault.actor.name}" if fault.by != fault.actor.name else ""
            book.add(fault.t, fault.by, f"FAULT {fault.kind}{whom}{f' at {fault.point}' if fault.point else ''}")
        elif fault.actor is None and fault.kind in OUTAGES:
            book.add(fault.t, fault.by, f"FAULT {fault.kind} {fault.target or ''}".rstrip())
