"""What is known of a run: actors, jobs, deliveries, settlements, faults. Filled by history.py and evidence.py, judged by checks/.

Times are nanoseconds of the machine's monotonic clock. One object per job and delivery; everything else is counted, so that a
million lines fit in a few hundred megabytes.
"""
import bisect
import collections

from .trail import read_word

SECOND = 1_000_000_000
MS = 1_000_000
FINAL = frozenset(("completed", "failed", "cancelled"))
# Answers that say the fence refused the delivery.
REFUSED = frozenset(("lease_lost", "cancelled", "not_found"))


class Settle:
    """One settlement call for one delivery. answer: what the database said; "failed": certainly not done; None: unknown."""
    __slots__ = ("call_t", "end_t", "outcome", "answer", "actor")

    def __init__(self, call_t, end_t, outcome, answer, actor):
        self.call_t, self.end_t, self.outcome, self.answer, self.actor = call_t, end_t, outcome, answer, actor


class Delivery:
    __slots__ = ("job", "token", "actor", "number", "call_t", "claim_t", "runs", "settles", "undone")

    def __init__(self, job, token, actor, number, call_t, claim_t):
        self.job, self.token, self.actor, self.number = job, token, actor, number
        self.call_t, self.claim_t = call_t, claim_t
        self.runs = 0
        self.settles = ()
        self.undone = False  # A fail-over may have taken the claim back.

    def answered(self, answer):
        return any(s.answer == answer for s in self.settles)


class Job:
    __slots__ = ("id", "key", "deliveries", "row", "places", "ledger", "ledger_token", "arrivals", "attempts", "lost_deliveries",
                 "word", "times", "flagged")

    def __init__(self, job_id):
        self.id = job_id
        self.key = None  # As answered to the producer.
        self.deliveries = ()
        self.row = None
        self.places = 0  # Rows of the dump: more than one is a job in two places.
        self.ledger = 0
        self.ledger_token = None
        self.arrivals = None  # Idempotency key -> [requests, answered with success].
        self.attempts = 0  # Attempt rows that name a delivery.
        self.lost_deliveries = ()  # Attempt rows with outcome lost.
        self.word = ""  # The audit, see trail.py.
        self.times = ()  # (action, t) of its records, where recovery is measured.
        self.flagged = False  # Lost or otherwise beyond judging: further checks would repeat the finding.

    def final(self):
        return self.row is not None and self.row.status in FINAL

    @property
    def trail(self):
        return read_word(self.word) if self.word else None

    def ids(self):
        return (self.id, self.key or (self.row and self.row.key), *(d.token for d in self.deliveries))


class Row:
    """The job as the database has it."""
    __slots__ = ("key", "queue", "type", "status", "reason", "delivery_count", "generation", "token", "place", "expect", "effect",
                 "parent", "follows", "limit", "cost", "keyed", "created", "finished")


class LostDelivery:
    """An attempt row that says: the lease was taken back."""
    __slots__ = ("job", "token", "worker", "ended_t", "number")

    def __init__(self, job, token, worker, ended_t, number):
        self.job, self.token, self.worker, self.ended_t, self.number = job, token, worker, ended_t, number


class Key:
    """All enqueue calls of one producer's key."""
    __slots__ = ("jobs", "asked", "answered_t", "unknown", "undone", "failed", "found")

    def __init__(self):
        self.jobs = ()
        self.found = False  # A repeat was told that the job was there already.
        self.asked = self.unknown = self.undone = self.failed = 0
        self.answered_t = None


class Actor:
    __slots__ = ("name", "role", "pid", "first_t", "last_t", "supervisor", "boss", "workers", "dead_t", "stops", "cuts", "points")

    def __init__(self, name, role=None, pid=None):
        self.name, self.role, self.pid = name, role, pid
        self.first_t = self.last_t = None
        self.supervisor = None  # Actor, process number or id of its supervisor, as it was written down.
        self.boss = None  # The supervisor itself.
        self.workers = set()  # Worker ids under which it claimed.
        self.dead_t = None
        self.stops = []  # [stopped, continued or None]
        self.cuts = []
        self.points = []  # (t, point, action)


class Fault:
    __slots__ = ("t", "kind", "target", "point", "actor", "by", "fields")

    def __init__(self, t, kind, target, point, actor, by, fields):
        self.t, self.kind, self.target, self.point = t, kind, target, point
        self.actor = actor  # The actor it struck, where it is one of ours.
        self.by = by
        self.fields = fields


class Spans:
    """A set of time spans, merged."""

    def __init__(self, spans):
        self.spans = []
        for begin, end in sorted(spans):
            if self.spans and begin <= self.spans[-1][1]:
                self.spans[-1][1] = max(end, self.spans[-1][1])
            else:
                self.spans.append([begin, end])
        self.begins = [begin for begin, _ in self.spans]

    def overlap(self, begin, end):
        return sum(max(0, min(end, e) - max(begin, b)) for b, e in self.spans)

    def __contains__(self, t):
        at = bisect.bisect_right(self.begins, t) - 1
        return at >= 0 and t <= self.spans[at][1]

    def __bool__(self):
        return bool(self.spans)


class Run:
    def __init__(self):
        self.files = []
        self.actors = {}
        self.workers = {}  # Worker id -> actor.
        self.bosses = {}  # Worker id -> the supervisor that gave back its leases.
        self.jobs = {}
        self.tokens = {}  # Token -> Delivery.
        self.ends = {}  # Token -> outcome of its attempt row.
        self.keys = {}
        self.faults = []
        self.armed = collections.Counter()
        self.phases = []
        self.reached = collections.Counter()
        self.broken = []  # (t, actor, name) of MR_ALWAYS.
        self.calls = collections.Counter()  # (op, phase)
        self.ok_times = []
        self.lines = 0
        self.torn = 0
        self.overclaims = []  # (t, actor, asked, got)
        self.stray_runs = []  # (t, actor, job, token)
        self.double_claims = []  # Tokens handed out twice.
        self.grants = collections.defaultdict(list)  # Limit -> [(from, until, requests, cost)], monotonic.
        self.arrivals = collections.defaultdict(list)  # Limit -> [(t, requests, cost)]
        self.requests = []  # (t, job) of every request at the HTTP ledger.
        self.undone = Spans(())  # What was answered in these spans may be gone: asynchronous fail-over.
        self.losses_reported = None  # Keys that the nemesis found missing after a fail-over.
        self.down = Spans(())  # Nobody could reach the database.
        self.cuts = []  # Moments in which connections were cut, new ones being welcome.
        self.ups = []  # Moments when it came back.
        self.first_t = None
        self.last_t = None
        # From the dump.
        self.has_dump = False
        self.by_key = {}  # Key -> ids of the jobs that the database has for it.
        self.clock = None  # Database seconds minus monotonic seconds.
        self.limits = {}
        self.queues = {}
        self.file_grants = collections.defaultdict(list)  # Limit -> [(from, until, requests, cost)], database seconds.
        self.slots = []
        self.stray_ledger = []
        self.worst_running = {}  # Limit or queue -> most jobs at once, by the audit.
        self.over_running = []  # (name, job) of the first job above.
        self.audit_rows = 0
        self.counters = {}

    def job(self, job_id):
        job = self.jobs.get(job_id)
        if job is None:
            job = self.jobs[job_id] = Job(job_id)
        return job

    def mono(self, database_seconds):
        """The monotonic time of a moment of the database's clock; None where the two cannot be compared."""
        if database_seconds is None or self.clock is None:
            return None
        return int((database_seconds - self.clock) * SECOND)

    def seconds(self, t):
        """Since the beginning of the run."""
        return None if t is None else (t - (self.first_t or 0)) / SECOND
