"""P9, evidence: exactly one record for every transition, in an order that makes sense, in agreement with the job row, the attempts and
what callers were answered."""
import collections

from ..trail import NAMES

# The records (letters of trail.py) that an accepted settlement may have left. A job whose cancellation was asked for ends cancelled unless
# it succeeded or failed for good; what was tried too often fails; effects that cannot be written turn a success into a failure.
LEAVES = {("ok",): "CrF", ("permanent",): "F", ("cancelled",): "X", ("retry", "partial"): "rFX", ("throttled", "blocked"): "sFX",
          ("handback",): "hX"}


def check(run, options, verdict):
    before = verdict.total()
    records = 0
    for job in run.jobs.values():
        records += len(job.word)
        if job.flagged or job.row is None:
            continue
        problem = check_trail(run, job)
        if problem:
            job.flagged = True
            verdict.add("audit gap", "P9", job.id, problem, job.ids())
    account(run, verdict)
    problems = run.counters.get("audit_problems")
    if problems:
        verdict.add("audit gap", "P9", "chain", f"the audit's own verification found {problems} problems")
    verdict.figures.update(audit_records=run.audit_rows, transitions=records)
    verdict.check("P9", "one audit record per transition", verdict.total() == before, f"{records} transitions in {run.audit_rows} records")


def check_trail(run, job):
    trail, row = job.trail, job.row
    if trail is None:
        return "the job has no audit record"
    if trail.problem:
        return trail.problem
    final = row.status if row.place == "history" else None
    if trail.final != final:
        return f"the job is {row.status}, the audit's last word is {trail.final or trail.state}"
    if (row.place == "lease") != (trail.state == "leased"):
        return f"the job lies in {row.place}, by the audit it is {trail.state}"
    if trail.claims_now != row.delivery_count:
        return f"delivered {row.delivery_count} times, {trail.claims_now} claims on record"
    # Deliveries end in an attempt row, as completed, or handed back; one that was handed back when it was to be cancelled
    # ends as cancelled without an attempt.
    evident = job.attempts + trail.counts["C"] + trail.counts["h"]
    if not evident <= trail.ends <= evident + (trail.final == "cancelled"):
        return f"{trail.ends} deliveries ended by the audit; attempts, completion and hand-backs make {evident}"
    if not trail.counts["l"] <= len(job.lost_deliveries) <= trail.counts["l"] + trail.counts["F"] + trail.counts["X"]:
        return f"{len(job.lost_deliveries)} attempts were lost, {trail.counts['l']} reclaims are on record"
    return check_answers(run, job)


def check_answers(run, job):
    """What callers were told has happened must be on record as often as it was told."""
    trail = job.trail
    claims = sum(not d.undone and d.call_t is not None for d in job.deliveries)
    if claims > trail.claims:
        return f"{claims} claims were answered, {trail.claims} are on record"
    settled = collections.Counter(s.outcome for d in job.deliveries for s in d.settles if s.answer == "settled")
    if sum(settled.values()) > trail.ends:
        return f"{sum(settled.values())} settlements were accepted, {trail.ends} ends are on record"
    for outcomes, letters in LEAVES.items() if len(settled) else ():
        told = sum(settled[outcome] for outcome in outcomes)
        if told > sum(trail.counts[letter] for letter in letters):
            return f"{' and '.join(outcomes)} accepted {told} times; the record says {job.word and ', '.join(NAMES[l] for l in job.word)}"
    return None


def account(run, verdict):
    """Enqueued = completed + failed + cancelled + live, and all of them as the jobs themselves say."""
    totals = run.counters.get("totals")
    if not totals:
        return
    status = collections.Counter(j.row.status if j.row.place == "history" else "live" for j in run.jobs.values() if j.row is not None)
    kept = {name: totals.get(name, 0) for name in ("completed", "failed", "cancelled", "live")}
    real = {name: status.get(name, 0) for name in kept}
    good = kept == real and totals.get("enqueued") == sum(kept.values())
    verdict.check("P9", "the account balances", good, f"enqueued {totals.get('enqueued')} = " + " + ".join(f"{n} {name}" for name, n in kept.items()))
    if not good and not verdict.counts:
        wrong = ", ".join(f"{name} {kept[name]} counted, {real[name]} there" for name in kept if kept[name] != real[name])
        verdict.add("audit gap", "P9", "account", f"enqueued {totals.get('enqueued')}: {wrong or 'the sum is ' + str(sum(kept.values()))}")
