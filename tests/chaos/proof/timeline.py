"""What happened when: settlements, work in hand and backlog for every slice of the run, faults and phases. For the report."""
import collections

from .faults import of_the_run
from .model import SECOND

SLICES_MAX = 280


def timeline(run):
    if run.first_t is None:
        return {}
    end = run.last_t
    length = (end - run.first_t) / SECOND
    width = next((w for w in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300) if length / w <= SLICES_MAX), 600)
    count = int(length / width) + 1
    settled, refused, retried, begun, ended = ([0] * count for _ in range(5))

    def slice_of(t):
        return min(count - 1, max(0, int((t - run.first_t) / SECOND / width)))

    for delivery in run.tokens.values():
        for settle in delivery.settles:
            if settle.end_t is None or settle.answer is None:
                continue
            kind = refused if settle.answer not in ("settled", "already_settled", "replaced") else settled if settle.outcome == "ok" else retried
            kind[slice_of(settle.end_t)] += 1
    for job in run.jobs.values():
        if job.row is None:
            continue
        key = run.keys.get(job.row.key)
        begin = job.row.created if job.row.created is not None else key.answered_t if key is not None else None
        if begin is not None:
            begun[slice_of(begin)] += 1
            if job.final():
                ended[slice_of(job.row.finished if job.row.finished is not None else end)] += 1
    backlog, live = [], 0
    for enqueued, finished in zip(begun, ended):
        live += enqueued - finished
        backlog.append(live)
    faults = collections.OrderedDict()
    for fault in filter(of_the_run, run.faults):
        label = fault.kind or "?"
        what = fault.point or (fault.actor.name if fault.actor is not None else fault.target)
        faults.setdefault(label, []).append([round(run.seconds(fault.t), 3), str(what or "")])
    return {"seconds": round(length, 3), "width": width, "ok": settled, "other": retried, "refused": refused, "backlog": backlog, "faults": faults,
            "down": [[round(run.seconds(b), 3), round(run.seconds(e), 3)] for b, e in run.down.spans],
            "phases": [[round(run.seconds(t), 3), name] for t, name in run.phases]}
