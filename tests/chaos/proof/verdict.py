"""The outcome of a check: what held, what did not, and the figures, in a form that a file can keep."""
import dataclasses
import json
import pathlib

# Jepsen's words for what may become of an operation, and what we add to them. "ok" and "recovered" are no violations:
# a recovered call had an unknown answer and turned out to have been done.
CATEGORIES = {
    "lost": "acknowledged, and not there",
    "duplicated effect": "done more than once",
    "unexpected": "there, and nobody asked for it",
    "stale accepted": "a delivery that had lost its lease changed something",
    "stuck": "alive at the end, and nobody works on it",
    "falsely dead": "should have succeeded, ended as dead",
    "limit exceeded": "more was granted, or arrived, than a window or slot allows",
    "audit gap": "a transition without exactly one record, or records that contradict the answers",
    "recovery late": "a dead worker's job, or the service, came back too late",
    "invariant broken": "an MR_ALWAYS property did not hold",
    "never reached": "a fault point or MR_SOMETIMES property that was to be reached was not",
}


@dataclasses.dataclass
class Violation:
    category: str
    promise: str
    subject: str  # A job id, key, limit, point: what it is about.
    detail: str
    ids: tuple = ()  # Jobs, tokens and keys whose lines make the story.
    story: list = dataclasses.field(default_factory=list)

    def as_json(self):
        return {"category": self.category, "promise": self.promise, "subject": self.subject, "detail": self.detail,
                "ids": list(self.ids), "story": self.story}


@dataclasses.dataclass
class Check:
    promise: str
    name: str
    good: bool
    figure: str

    def as_json(self):
        return dataclasses.asdict(self)


class Verdict:
    """Collects violations (all are counted, the first of each category keep their stories), checks and figures."""

    def __init__(self, stories_max=25):
        self.stories_max = stories_max
        self.counts = {}
        self.violations = []
        self.checks = []
        self.figures = {}
        self.run = {}
        self.timeline = {}
        self.recovery = {}
        self.points = []
        self.reached = []  # Names of the MR_SOMETIMES properties that were seen.
        self.tally = {"ok": 0, "recovered": 0}

    @property
    def ok(self):
        return not self.counts and all(c.good for c in self.checks)

    def add(self, category, promise, subject, detail, ids=(), story=None):
        assert category in CATEGORIES, category
        seen = self.counts.get(category, 0)
        self.counts[category] = seen + 1
        if seen < self.stories_max:
            self.violations.append(Violation(category, promise, str(subject), detail, tuple(i for i in ids if i), story or []))

    def total(self):
        return sum(self.counts.values())

    def check(self, promise, name, good, figure):
        self.checks.append(Check(promise, name, bool(good), str(figure)))

    def as_json(self):
        return {"ok": self.ok, "tally": {**self.tally, **self.counts}, "run": self.run, "figures": self.figures,
                "checks": [c.as_json() for c in self.checks], "recovery": self.recovery, "points": self.points, "reached": self.reached,
                "timeline": self.timeline, "violations": [v.as_json() for v in self.violations]}

    @classmethod
    def from_json(cls, data):
        verdict = cls()
        verdict.counts = {name: n for name, n in data["tally"].items() if name in CATEGORIES}
        verdict.tally = {name: n for name, n in data["tally"].items() if name not in CATEGORIES}
        verdict.violations = [Violation(**{**v, "ids": tuple(v["ids"])}) for v in data["violations"]]
        verdict.checks = [Check(**c) for c in data["checks"]]
        for name in ("run", "figures", "recovery", "points", "reached", "timeline"):
            setattr(verdict, name, data[name])
        return verdict

    def write(self, directory):
        directory = pathlib.Path(directory)
        (directory / "verdict.json").write_text(json.dumps(self.as_json(), indent=1) + "\n")
        (directory / "violations.json").write_text(
            json.dumps({"counts": self.counts, "violations": [v.as_json() for v in self.violations]}, indent=1) + "\n")

    @classmethod
    def read(cls, directory):
        return cls.from_json(json.loads((pathlib.Path(directory) / "verdict.json").read_text()))

    def text(self):
        """For people at a terminal: the checks, then every violation with its history."""
        lines = [f"{'ok  ' if c.good else 'FAIL'} {c.promise:<9}{c.name}: {c.figure}" for c in self.checks]
        for violation in self.violations:
            lines.append(f"\n{violation.category.upper()} ({violation.promise}) {violation.subject}\n  {violation.detail}")
            lines.extend("    " + line for line in violation.story)
        left_out = self.total() - len(self.violations)
        if left_out:
            lines.append(f"\n… and {left_out} more violations of the categories above")
        words = [f"{n} {name}" for name, n in {**self.tally, **self.counts}.items()]
        lines.append(f"\nverdict: {'ok' if self.ok else 'VIOLATED'} ({', '.join(words)})")
        return "\n".join(lines)
