"""What faults mean for the judgement: whom they struck, when the database could not be reached, and what a fail-over may have undone."""
import bisect

from .model import MS, SECOND, Spans

# What ends each kind of outage.
ENDED_BY = {"pg_crash": "pg_up", "pg_stop": "pg_up", "disk_full": "disk_free", "stall": "heal", "refuse": "heal", "half_open": "heal"}
# Connections end, and new ones are welcome.
MOMENTS = frozenset(("cut", "reset", "terminate_backends"))
# What heals, or only tells.
HARMLESS = frozenset((*ENDED_BY.values(), "cont", "start", "reported_loss", "over_limit"))
OUTAGES = frozenset((*ENDED_BY, *ENDED_BY.values(), *MOMENTS, "failover"))


def of_the_run(fault):
    """Not of the making of the template that the run's databases are copies of."""
    return not str(fault.target or "").startswith("template")


def harms(fault):
    return fault.kind not in HARMLESS and of_the_run(fault)


def undone_spans(faults):
    """Commits of the last moments before an asynchronous fail-over may be gone; the nemesis says how far the standby was behind. Its line is
    dated when the new primary accepted."""
    spans = []
    for fault in faults:
        if fault.kind == "failover" and fault.fields.get("mode") == "async":
            lag = int(fault.fields.get("lag_ms", 0) * MS)
            since = fault.fields.get("lost_since", fault.t - lag)
            spans.append((since, max(fault.t, since + lag)))
    return Spans(spans)


def aim_faults(run):
    """Finds the actors that faults struck, and when they were dead, stopped or cut off."""
    by_pid = {}
    for actor in run.actors.values():
        by_pid.setdefault(actor.pid, []).append(actor)

    def process_at(pid, t):
        """A process number may come again: the youngest process that had begun."""
        if isinstance(pid, str) and pid.isdigit():
            pid = int(pid)
        begun = [a for a in by_pid.get(pid, ()) if a.first_t is not None and (t is None or a.first_t <= t)]
        return max(begun, key=lambda a: a.first_t, default=None)

    for actor in run.actors.values():
        actor.boss = find_boss(run, actor, process_at)
    for fault in run.faults:
        if fault.kind == "reported_loss":
            run.losses_reported = (run.losses_reported or set()) | set(fault.fields.get("keys", ()))
        if fault.actor is None:
            fault.actor = (run.actors.get(fault.target) or run.workers.get(fault.target)
                           or process_at(fault.fields.get("pid", fault.target), fault.t))
        if fault.actor is not None:
            strike(fault.actor, fault)
    for actor in run.actors.values():
        if actor.boss is not None and actor.dead_t is None and actor.boss.dead_t is not None:
            actor.dead_t = actor.boss.dead_t  # Children do not outlive their supervisor.


def find_boss(run, actor, process_at):
    for worker in actor.workers:
        if worker in run.bosses:
            return run.bosses[worker]
    name = actor.supervisor
    boss = (run.actors.get(name) or run.workers.get(name) or process_at(name, actor.first_t)) if name else None
    return boss if boss is not actor else None  # Whom a child names when it registers is its supervisor, whatever the command was called.


def strike(actor, fault):
    if fault.kind == "kill" and actor.dead_t is None:
        actor.dead_t = fault.t
    elif fault.kind == "stop":
        actor.stops.append([fault.t, None])
    elif fault.kind == "cont" and actor.stops and actor.stops[-1][1] is None:
        actor.stops[-1][1] = fault.t
    elif fault.kind in ("cut", "stall", "drop"):
        actor.cuts.append(fault.t)


def down_spans(run):
    """When the database could not be reached. A crash that did not keep calls from succeeding was that of a standby."""
    spans, open_since = [], {}

    def close(key, t):
        begin = open_since.pop(key, None)
        if begin is None:
            return
        if key[0] == "pg_up" and calls_succeeded(run, begin, t):
            return
        spans.append((begin, t))
        run.ups.append(t)

    for fault in run.faults:
        if fault.actor is not None:
            continue
        kind, key = fault.kind, (ENDED_BY.get(fault.kind), fault.target)
        if kind in MOMENTS or (kind == "half_open" and fault.fields.get("new") != "drop"):
            run.cuts.append(fault.t)
        elif kind in ENDED_BY:
            open_since.setdefault(key, fault.t)
        elif kind == "failover":
            for key in [k for k in open_since if k[0] == "pg_up" and fault.fields.get("old", k[1]) == k[1]]:
                close(key, fault.t)
        elif kind in ENDED_BY.values():
            close((kind, fault.target), fault.t)
    spans += [(begin, run.last_t or begin) for (ended_by, _), begin in open_since.items() if ended_by != "pg_up"]
    run.down = Spans(spans)
    run.ups.sort()
    run.cuts.sort()


def calls_succeeded(run, begin, end):
    """Answers that were on their way are written down a little after the crash."""
    at = bisect.bisect_right(run.ok_times, begin + SECOND // 5)
    return at < len(run.ok_times) and run.ok_times[at] < end
