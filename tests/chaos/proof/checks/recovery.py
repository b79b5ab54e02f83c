"""P5, recovery: a lease whose holder was killed, stopped or cut off is handed out again in time, and the service comes back after the
database does. That a paused worker changes nothing when it wakes is judged with the outcomes; here it is counted."""
import bisect
import math

from ..model import MS, REFUSED, SECOND, Spans

GROUPS = {"killed": "killed, found by the lease", "supervised": "killed under a supervisor", "stopped": "stopped longer than the lease",
          "cut": "cut off from the database", "outage": "lost in an outage of the database"}
SAMPLES_MAX = 3000


def check(run, options, verdict):
    before = verdict.total()
    excused = Spans([(b, e + options.resume_ms * MS) for b, e in run.down.spans])
    samples = {name: [] for name in GROUPS}
    spurious = unmeasured = 0
    for job in run.jobs.values():
        for lost in job.lost_deliveries:
            group, since = cause(run, options, lost)
            if group is None:
                spurious += 1
                continue
            back = handed_out_again(run, options, job, lost, since)
            if back is None:
                unmeasured += 1
                continue
            seconds = (back - since) / SECOND
            samples[group].append((seconds - excused.overlap(since, back) / SECOND, seconds, since, job, lost))
    for name, group in samples.items():
        judge_group(run, options, verdict, name, group)
    stale(run, verdict)
    resume(run, options, verdict)
    extra(run, options, verdict, spurious)
    verdict.figures.update(lost_leases=spurious + unmeasured + sum(map(len, samples.values())), lost_without_fault=spurious)
    if not options.expect_drained:
        stuck(run, options, verdict)
    verdict.check("P5", "work of dead workers is handed out again", verdict.total() == before,
                  f"{sum(map(len, samples.values()))} leases of dead, stopped or cut-off holders, {spurious} lost without a fault")


def cause(run, options, lost):
    """(group, when it began) of the fault that took the holder away; (None, None) when there was none."""
    delivery = run.tokens.get(lost.token)
    actor = delivery.actor if delivery is not None else run.workers.get(lost.worker)
    ended = lost.ended_t + SECOND // 20 if lost.ended_t is not None else run.last_t  # The two clocks agree to milliseconds.
    # What was over for so long cannot have been the cause.
    recent = ended - (2 * options.lease_ms + options.recovery_margin_ms + options.resume_ms) * MS
    # Nor what was over when the job was claimed.
    since = max(recent, delivery.call_t or 0) if delivery is not None else recent
    if actor is not None:
        stop = next((s for s in reversed(actor.stops) if s[0] <= ended and (s[1] is None or s[1] >= since)), None)
        if actor.dead_t is not None and actor.dead_t <= ended:
            if is_supervised(actor):
                return "supervised", actor.dead_t
            if stop is not None and (stop[1] is None or stop[1] >= actor.dead_t):
                return "stopped", stop[0]
            return "killed", actor.dead_t
        if stop is not None:
            return "stopped", stop[0]
        cut = next((t for t in reversed(actor.cuts) if since <= t <= ended), None)
        if cut is not None:
            return "cut", cut
    down = next((b for b, e in reversed(run.down.spans) if b <= ended and e >= since), None)
    if down is not None:
        return "outage", down
    at = bisect.bisect_right(run.cuts, ended) - 1
    return ("cut", run.cuts[at]) if at >= 0 and run.cuts[at] >= since else (None, None)


def is_supervised(actor):
    """Whether a supervisor lived that could see this death."""
    boss = actor.boss
    if boss is None:
        return False
    gone = boss.dead_t is not None and boss.dead_t <= actor.dead_t + SECOND
    return not gone and not any(b <= actor.dead_t + SECOND and (e is None or e >= actor.dead_t) for b, e in boss.stops)


def handed_out_again(run, options, job, lost, since):
    """When the job had a holder again, or was over, or could have been handed out where others stand before it in line."""
    row = job.row
    waits_for_others = row is not None and (row.keyed or row.limit is not None)
    if options.recovery_by == "reclaim" or waits_for_others:
        return lost.ended_t
    held = [d.claim_t for d in job.deliveries
            if d.token != lost.token and d.claim_t > since and (d.call_t or 0) > since - SECOND and (d.number or lost.number) != lost.number]
    # A holder that died before it could write its claim down was one all the same: the database knows of it, and its death is a loss of its own.
    # Until the loss was found the job was leased to the lost holder, so an earlier claim is that one's own.
    if lost.ended_t is not None:
        found = max(since, lost.ended_t - SECOND // 20)
        held += [t for action, t in job.times if action == "claimed" and t is not None and t > found]
    if held:
        return min(held)
    return lost.ended_t if job.final() else None


def percentile(values, share):
    """The smallest value that so large a share of all does not exceed."""
    return values[max(0, math.ceil(share * len(values)) - 1)]


def judge_group(run, options, verdict, name, group):
    if not group:
        return
    group.sort(key=lambda s: s[0])
    bar = options.supervised_ms / 1000 if name == "supervised" else (options.lease_ms + options.recovery_margin_ms) / 1000
    every = (2 * options.lease_ms + options.recovery_margin_ms) / 1000
    values = [s[0] for s in group]
    p50, p99, worst = percentile(values, 0.5), percentile(values, 0.99), values[-1]
    late = [s for s in group if s[0] > (bar if p99 > bar else every)]
    for judged, seconds, since, job, lost in late:
        verdict.add("recovery late", "P5", job.id, f"{GROUPS[name]} at {run.seconds(since):.3f} s; handed out again after {seconds:.3f} s, "
                    f"bar {bar:.3f} s", (*job.ids(), lost.token))
    step = max(1, len(group) // SAMPLES_MAX)
    verdict.recovery[name] = {
        "label": GROUPS[name], "count": len(group), "p50": round(p50, 4), "p99": round(p99, 4), "max": round(worst, 4), "bar": bar,
        "excused": sum(s[0] < s[1] for s in group),
        "samples": [[round(run.seconds(s[2]), 3), round(s[0], 4)] for s in group[::step] + ([group[-1]] if step > 1 else [])]}
    verdict.check("P5", f"recovery, {GROUPS[name]}", not late, f"p50 {p50:.3f} s, p99 {p99:.3f} s, max {worst:.3f} s of {len(group)}; bar p99 {bar:.3f} s")


def stale(run, verdict):
    """Settlements by deliveries whose lease had been taken away: all were refused, or the outcomes say so."""
    refused = accepted = 0
    for job in run.jobs.values():
        for lost in job.lost_deliveries:
            delivery = run.tokens.get(lost.token)
            for settle in delivery.settles if delivery is not None else ():
                refused += settle.answer in REFUSED
                accepted += settle.answer == "settled"
    verdict.figures.update(stale_refused=refused, stale_accepted=accepted)
    verdict.check("P5", "a worker that wakes up changes nothing", accepted == 0, f"{refused} stale settlements refused, {accepted} accepted")


def resume(run, options, verdict):
    times = []
    for up in run.ups:
        at = bisect.bisect_left(run.ok_times, up)
        first = run.ok_times[at] if at < len(run.ok_times) else None
        if first is None and (run.last_t - up) < options.resume_ms * MS:
            continue
        took = None if first is None else (first - up) / SECOND
        times.append(took)
        if took is None or took * 1000 > options.resume_ms:
            said = "never" if took is None else f"after {took:.3f} s"
            verdict.add("recovery late", "P5", f"service at {run.seconds(up):.3f} s", f"the database was back at {run.seconds(up):.3f} s; the first call "
                        f"succeeded {said}, bar {options.resume_ms / 1000:g} s")
    known = sorted(t for t in times if t is not None)
    if times:
        verdict.figures["resume_max_s"] = round(known[-1], 3) if known else None
        verdict.check("P5", "service resumes", len(known) == len(times) and known[-1] * 1000 <= options.resume_ms,
                      f"{len(times)} × back, slowest {known[-1]:.3f} s" if known else f"{len(times)} × back, and no call succeeded")


def extra(run, options, verdict, spurious):
    claims = sum(j.trail.claims for j in run.jobs.values() if j.trail) or len(run.tokens)
    share = spurious / claims if claims else 0.0
    verdict.figures.update(deliveries=claims, extra_deliveries=round(share, 5))
    if options.extra_deliveries_max is not None:
        good = share <= options.extra_deliveries_max
        verdict.check("P5", "few deliveries beyond those that faults explain", good, f"{spurious} of {claims}")
        if not good:
            verdict.add("unexpected", "P5", "deliveries", f"{spurious} of {claims} leases were lost without a fault")


def stuck(run, options, verdict):
    """Where jobs may live on at the end: those of dead holders may not, after twice the lease."""
    limit = (2 * options.lease_ms + options.recovery_margin_ms) * MS
    for job in run.jobs.values():
        row = job.row
        if job.flagged or row is None or row.place != "lease" or row.token not in run.tokens:
            continue
        actor = run.tokens[row.token].actor
        if actor.dead_t is not None and run.last_t - actor.dead_t > limit:
            job.flagged = True
            verdict.add("stuck", "P5", job.id, f"its holder {actor.name} died {(run.last_t - actor.dead_t) / SECOND:.1f} s before the end and still has "
                        "the lease", job.ids())
