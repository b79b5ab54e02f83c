"""P7, limits hold: no sliding window above its limit by grant times nor by arrival times, no more at once than there are slots, and
every slot comes back.

A grant is known to lie between two moments (the call and its answer, or two readings of the database's clock). A window is exceeded for
certain when grants that lie in it completely are more than it allows.
"""
from ..model import SECOND


def check(run, options, verdict):
    before = verdict.total()
    series = {name: list(grants) for name, grants in run.grants.items()}
    for job in run.jobs.values():
        if job.row is not None and job.row.limit in run.limits:
            grants = series.setdefault(job.row.limit, [])
            grants += [(d.call_t / SECOND, d.claim_t / SECOND, 1, job.row.cost) for d in job.deliveries if d.call_t is not None and not d.undone]
    arrived = {name: list(seen) for name, seen in run.arrivals.items()}
    for t, job in run.requests:
        if job.row is not None and job.row.limit in run.limits:
            arrived.setdefault(job.row.limit, []).append((t, 1, job.row.cost))
    worst = {}
    for name, limit in run.limits.items():
        for source, grants in (("claims", series.get(name)), ("grants", run.file_grants.get(name))):
            if grants:
                judge_windows(verdict, worst, name, limit, grants, 0.0, f"by {source}")
        arrivals = [(t / SECOND, t / SECOND, n, cost) for t, n, cost in arrived.get(name, ())]
        if arrivals:
            judge_windows(verdict, worst, name, limit, arrivals, options.arrival_margin_ms / 1000, "by arrival")
    for (kind, name), bound, job in run.over_running:
        verdict.add("limit exceeded", "P7", name, f"{kind} {name}: {run.worst_running[kind, name]} at once, {bound} allowed", job.ids())
    judge_slots(run, options, verdict)
    if not worst and not any(run.worst_running.values()) and verdict.total() == before:
        return  # Nothing in this run was limited.
    verdict.figures["windows"] = worst
    fullest = [f"{name} {most} of {limit}" for name, (most, limit) in sorted(worst.items())[:6]]
    fullest += [f"{name} {most} at once" for (_, name), most in sorted(run.worst_running.items()) if most]
    figure = ", ".join(fullest) or "no grants"
    verdict.check("P7", "no window above its limit, no slot leaked", verdict.total() == before, figure)


def judge_windows(verdict, worst, name, limit, grants, margin, how):
    for unit, index in (("requests", 2), ("tokens", 3)):
        for length, field in (("window_s", unit), ("hour_window_s", f"hour_{unit}")):
            allowed = limit.get(field)
            if allowed is None or limit.get(length) is None:
                continue
            most, begin, end = fullest_window(grants, index, limit[length] - margin)
            label = f"{name} {unit}/{limit[length]:g} s {how}"
            worst[label] = [most, allowed]
            if most > allowed:
                verdict.add("limit exceeded", "P7", name, f"{most} {unit} in {limit[length] - margin:g} s {how}, {allowed} allowed", (),
                            window_story(grants, index, begin, end))


def fullest_window(grants, index, length):
    """(sum, begin, end): the largest sum of grants that lie completely in one window of this length. A grant less certain than
    a whole window proves nothing and is left out."""
    usable = [g for g in grants if g[1] - g[0] <= length]
    by_begin = sorted(usable)
    by_end = sorted(usable, key=lambda g: g[1])
    most, where = 0, 0.0
    ended = at = before = 0
    # With every grant shorter than the window, those inside [x, x + length] are those that end by then less those that began before x.
    for grant in by_begin:
        begin = grant[0]
        while at < len(by_end) and by_end[at][1] <= begin + length:
            ended += by_end[at][index]
            at += 1
        if ended - before > most:
            most, where = ended - before, begin
        before += grant[index]
    return most, where, where + length


def window_story(grants, index, begin, end):
    inside = sorted(g for g in grants if g[0] >= begin and g[1] <= end)
    total, lines = 0, []
    for grant in inside:
        total += grant[index]
        lines.append(f"{grant[0] - begin:+9.3f} s  granted {grant[index]}, {total} in the window so far")
    if len(lines) > 24:
        lines = lines[:8] + [f"           … {len(lines) - 16} more …"] + lines[-8:]
    return lines


def judge_slots(run, options, verdict):
    now = run.counters.get("clock", {}).get("database_seconds")
    for slot in run.slots:
        job = run.jobs.get(slot.get("job"))
        if slot.get("job"):
            leased = job is not None and job.row is not None and job.row.place == "lease" and job.row.token == slot.get("token")
            over_since = job.row.finished if job is not None and job.row is not None else None
            age = None if over_since is None or now is None else now - run.clock - over_since / SECOND
            leaked = not leased and (age is None or age > options.slot_grace_s)
        else:
            leaked = now is not None and now - slot["lease_until"] > options.slot_grace_s
        if leaked:
            verdict.add("limit exceeded", "P7", slot["limit"], f"a slot of {slot['limit']} is still taken, though "
                        + (f"job {slot['job']} does not run" if slot.get("job") else "its time is over"), (slot.get("job"), slot.get("token")))
