"""P1, nothing lost: every job that was acknowledged exists until it is final; a key is at most one job; nothing came from nowhere."""


def check(run, options, verdict):
    before = verdict.total()
    losses_reported = 0
    for name, holders in run.by_key.items():
        if len(holders) > 1:
            verdict.add("duplicated effect", "P1", name, f"key {name} is {len(holders)} jobs", (name, *holders))
    for name, key in run.keys.items():
        check_answered(run, verdict, name, key)
        holders = run.by_key.get(name, ())
        if key.jobs:
            verdict.tally["recovered"] += bool(key.found and key.unknown)
            continue
        may_exist = key.unknown or key.undone or key.asked > key.failed
        if holders and not may_exist:
            verdict.add("unexpected", "P1", name, f"key {name}: every call failed for certain, yet the job exists", (name, *holders))
        elif holders and not key.undone:
            verdict.tally["recovered"] += 1
        elif key.undone and not holders:
            losses_reported += 1
            if run.losses_reported is not None and name not in run.losses_reported:
                verdict.add("lost", "P1", name, f"the job of {name} was lost in a fail-over, and nobody reported it", (name,))
    check_rows(run, options, verdict)
    if run.undone:
        verdict.figures["lost_in_failover"] = losses_reported
    answered = sum(bool(k.jobs) for k in run.keys.values())
    follow_ups = sum(1 for j in run.jobs.values() if j.row and j.row.parent)
    figure = (f"{answered} acknowledged, " + (f"{follow_ups} enqueued by others, " if follow_ups else "")
              + f"{sum(1 for j in run.jobs.values() if j.row)} in the database")
    if run.undone:
        figure += f", {losses_reported} lost with the old primary"
    verdict.check("P1", "nothing lost, nothing twice, nothing from nowhere", verdict.total() == before, figure)


def check_answered(run, verdict, name, key):
    if len(key.jobs) > 1:
        verdict.add("duplicated effect", "P1", name, f"key {name} was answered with {len(key.jobs)} different jobs", (name, *key.jobs))
    for job_id in key.jobs:
        job = run.jobs[job_id]
        if job.row is None:
            job.flagged = True
            verdict.add("lost", "P1", job.id, f"enqueue of {name} was acknowledged, but the job is not in the database", job.ids())
        elif job.row.key is not None and job.row.key != name:
            verdict.add("unexpected", "P1", job.id, f"enqueue of {name} was answered with the job of {job.row.key}", job.ids())


def check_rows(run, options, verdict):
    for job in run.jobs.values():
        if job.flagged:
            continue
        row = job.row
        if row is None:
            check_missing(run, verdict, job)
        elif not row.place:
            job.flagged = True
            verdict.add("lost", "P1", job.id, "the job is known, but lies in no place: neither ready, delayed, leased nor finished", job.ids())
        elif job.places > 1:
            job.flagged = True
            verdict.add("duplicated effect", "P1", job.id, f"the job lies in {job.places} places at once", job.ids())
        elif row.key not in run.keys and not asked_by_parent(run, row) and row.type not in options.ignore_types:
            verdict.add("unexpected", "P1", job.id, f"nobody asked for this job (key {row.key}, type {row.type})", job.ids())


def check_missing(run, verdict, job):
    """No row. What the job did shows that it was there, unless a fail-over may have taken everything back."""
    if any(not d.undone for d in job.deliveries) or job.word or job.attempts:
        job.flagged = True
        what = "was handed out" if job.deliveries else "is in the audit"
        verdict.add("lost", "P1", job.id, f"the job {what}, but is not in the database", job.ids())
    elif job.arrivals and not job.deliveries:
        job.flagged = True
        verdict.add("unexpected", "P3", job.id, "a request arrived for a job that does not exist", (job.id, *job.arrivals))
    elif job.ledger:
        job.flagged = True
        verdict.add("unexpected", "P3", job.id, "an effect of a job that does not exist", job.ids())


def asked_by_parent(run, row):
    parent = run.jobs.get(row.parent) if row.parent else None
    return parent is not None and parent.row is not None
