"""P3, effects once, by two ledgers that the engine never reads: a plain table and an HTTP server; and P4, outside effects always
carry the same key."""


def check(run, options, verdict):
    before = verdict.total()
    rows = requests = repeats = 0
    key_owner = {}
    for job in run.jobs.values():
        rows += job.ledger
        if job.arrivals:
            requests += sum(n for n, _ in job.arrivals.values())
            repeats += sum(n for n, _ in job.arrivals.values()) - 1
        if job.flagged or job.row is None:
            continue
        count = verdict.total()
        effect = job.row.effect or options.effect_default
        check_ledger(verdict, job, effect in ("row", "both"))
        if verdict.total() == count:
            check_http(verdict, job, effect in ("http", "both"), key_owner)
        if verdict.total() == count and job.row.follows:
            check_follow_up(run, verdict, job)
        job.flagged = verdict.total() > count
    for job_id, token in run.stray_ledger:
        verdict.add("unexpected", "P3", job_id, "an effect of a job that nobody knows", (job_id, token))
    verdict.figures.update(ledger_rows=rows, http_requests=requests, http_repeats=repeats)
    figure = f"{rows} ledger rows"
    if requests:
        figure += f"; {requests} requests, {repeats} of them repeats under the same key"
    verdict.check("P3, P4", "effects once", verdict.total() == before, figure)


def check_ledger(verdict, job, wants_row):
    row = job.row
    if row.status == "completed" and wants_row:
        if job.ledger == 0:
            verdict.add("lost", "P3", job.id, "completed, but its effect is not in the ledger", job.ids())
        elif job.ledger > 1:
            verdict.add("duplicated effect", "P3", job.id, f"{job.ledger} effects in the ledger", job.ids())
        elif job.ledger_token is not None and job.ledger_token != row.token:
            verdict.add("stale accepted", "P3", job.id, f"the effect is of delivery {job.ledger_token[:8]}, the settlement of "
                        f"{str(row.token)[:8]}", job.ids())
    elif job.ledger > 1:
        verdict.add("duplicated effect", "P3", job.id, f"{job.ledger} effects in the ledger, and the job is {row.status}", job.ids())
    elif job.ledger:
        verdict.add("unexpected", "P3", job.id, f"an effect in the ledger, but the job is {row.status}", job.ids())


def check_follow_up(run, verdict, job):
    """The job that a success enqueues exists exactly when the success does."""
    followers = [run.jobs[i] for i in run.by_key.get(job.row.follows, ())]
    if job.row.status == "completed" and not followers:
        verdict.add("lost", "P3", job.id, f"completed, but the job {job.row.follows} that its success enqueues is not there", (*job.ids(), job.row.follows))
    elif job.row.status != "completed" and any(f.row.parent == job.id for f in followers):
        verdict.add("unexpected", "P3", job.id, f"{job.row.status}, yet the job {job.row.follows} that only its success enqueues is there",
                    (*job.ids(), job.row.follows, followers[0].id))


def check_http(verdict, job, wants_http, key_owner):
    arrivals = job.arrivals or {}
    # A redriven job is a new intent: one key for each of its lives.
    if len(arrivals) > job.row.generation:
        verdict.add("duplicated effect", "P4", job.id, f"requests with {len(arrivals)} different keys: {', '.join(sorted(map(str, arrivals))[:4])}",
                    (*job.ids(), *arrivals))
        return
    for key in arrivals:
        owner = key_owner.setdefault(key, job.id)
        if owner != job.id:
            verdict.add("unexpected", "P4", job.id, f"the key {key} belongs to another job, {owner}", (*job.ids(), owner, key))
            return
    if job.row.status == "completed" and wants_http and not any(good for _, good in arrivals.values()):
        verdict.add("lost", "P4", job.id, "completed, but no request of it was ever answered with success", job.ids())
