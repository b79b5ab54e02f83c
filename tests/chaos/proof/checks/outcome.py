"""P2, one outcome: exactly one settlement ended each job, and answers, job row and attempts agree on which. Also: nothing is stuck, and
nobody ended as dead who should have lived."""
from ..model import FINAL, REFUSED


def check(run, options, verdict):
    before = verdict.total()
    ended = stuck = good = 0
    for job in run.jobs.values():
        if job.flagged or job.row is None:
            continue
        count = verdict.total()
        check_deliveries(run, verdict, job)
        if verdict.total() == count:
            check_row(run, verdict, job)
        if verdict.total() == count and options.expect_drained and job.row.status not in FINAL and job.row.expect != "live":
            stuck += 1
            verdict.add("stuck", "P2", job.id, f"the run is over and the job still lies in {job.row.place} ({job.row.status}"
                        f"{', ' + job.row.reason if job.row.reason else ''}), delivery {job.row.delivery_count}", job.ids())
        if verdict.total() == count:
            check_expected(verdict, job)
        job.flagged = verdict.total() > count
        ended += job.final()
        good += not job.flagged
    check_oddities(run, verdict)
    verdict.figures["jobs"] = len(run.jobs)
    verdict.tally["ok"] = good
    verdict.check("P2", "one outcome for every job", verdict.total() == before, f"{ended} ended, {stuck} stuck")


def settled_by(run, job, token):
    """Whether the database has a settlement by this token."""
    if run.ends.get(token) == "lost":
        return False
    return token in run.ends or (job.row.token == token and job.row.status in FINAL)


def check_deliveries(run, verdict, job):
    """Every answer that was given must have been true."""
    done_t = None
    for delivery in job.deliveries:
        if done_t is not None and delivery.call_t is not None and delivery.call_t > done_t:
            return verdict.add("unexpected", "P2", job.id, "handed out again after its completion had been acknowledged", job.ids())
        settled = [s for s in delivery.settles if s.answer == "settled"]
        if len(settled) > 1:
            return verdict.add("duplicated effect", "P2", job.id, f"delivery {short(delivery.token)} was settled {len(settled)} times", job.ids())
        if settled:
            problem = check_settled(run, job, delivery, settled[0])
            if problem:
                return verdict.add(problem[0], "P2", job.id, problem[1], job.ids())
            if settled[0].outcome == "ok" and job.row.token == delivery.token:
                done_t = settled[0].end_t
        elif delivery.answered("already_settled"):
            if not settled_by(run, job, delivery.token):
                return verdict.add("lost", "P2", job.id, f"delivery {short(delivery.token)} was told already_settled, but the database has no "
                                   "settlement by it", job.ids())
            if not any(s.answer is None for s in delivery.settles):
                return verdict.add("unexpected", "P2", job.id, f"delivery {short(delivery.token)} was told already_settled, but had never "
                                   "settled before", job.ids())
            verdict.tally["recovered"] += 1
        elif any(s.answer is None for s in delivery.settles) and settled_by(run, job, delivery.token):
            verdict.tally["recovered"] += 1
    return None


def came_after(delivery, other):
    """Whether the other was surely handed out later. Answers of claims can arrive in the wrong order."""
    if other is delivery or other.undone or other.call_t is None:
        return False
    if delivery.call_t is None or other.call_t > delivery.claim_t:
        return delivery.call_t is not None
    if delivery.call_t > other.claim_t:
        return False
    return other.number is not None and delivery.number is not None and other.number > delivery.number


def check_settled(run, job, delivery, settle):
    """(category, detail) when the database does not bear out the answer 'settled'."""
    token, row = delivery.token, job.row
    if run.ends.get(token) == "lost":
        return "stale accepted", f"delivery {short(token)} had lost its lease, and its settlement ({settle.outcome}) was accepted"
    after = next((d for d in job.deliveries if d.claim_t < settle.call_t and came_after(delivery, d)), None)
    if after is not None:
        return "stale accepted", (f"delivery {short(token)} settled ({settle.outcome}) after the job had been handed out again as "
                                  f"{short(after.token)}")
    if settle.outcome == "handback" or token in run.ends:
        return None
    if row.token == token and row.status in FINAL and (row.status == "completed") == (settle.outcome == "ok"):
        return None
    if row.status == "completed" and settle.outcome == "ok":
        return "stale accepted", f"two deliveries ended the job: {short(token)} was told settled, the database has {short(row.token)}"
    return "lost", (f"delivery {short(token)} was told settled ({settle.outcome}), but the database has the job as {row.status} "
                    f"without a trace of it")


def check_row(run, verdict, job):
    """The end that the database shows must have been asked for by the delivery it names."""
    row = job.row
    if row.status not in FINAL:
        return
    delivery = run.tokens.get(row.token)
    lost = run.ends.get(row.token) == "lost"
    if row.token is None:
        if row.status == "completed":
            verdict.add("unexpected", "P2", job.id, "completed by no delivery", job.ids())
        return
    if delivery is None:
        if not lost:
            verdict.add("unexpected", "P2", job.id, f"{row.status} by delivery {short(row.token)}, whose claim nobody got an answer to",
                        (*job.ids(), row.token))
        return
    if lost:
        if row.status == "completed":
            verdict.add("stale accepted", "P2", job.id, f"completed by delivery {short(row.token)}, which had lost its lease", job.ids())
        return
    refused = next((s.answer for s in delivery.settles if s.answer in REFUSED), None)
    if refused is not None:
        verdict.add("stale accepted", "P2", job.id, f"delivery {short(row.token)} was told {refused}, yet the job is {row.status} by it", job.ids())
        return
    may_have = [s for s in delivery.settles if s.answer != "failed"]
    if not may_have and not (row.status == "cancelled" and row.reason):
        verdict.add("unexpected", "P2", job.id, f"{row.status} by delivery {short(row.token)}, which never settled it", job.ids())
    elif row.status == "completed" and not any(s.outcome == "ok" for s in may_have):
        asked = ", ".join(sorted({s.outcome for s in may_have}))
        verdict.add("unexpected", "P2", job.id, f"completed, but delivery {short(row.token)} reported {asked}", job.ids())


def check_expected(verdict, job):
    row = job.row
    if row.expect in ("any", "live") or row.status not in FINAL or row.status == row.expect:
        return
    category = "falsely dead" if row.expect == "completed" else "unexpected"
    verdict.add(category, "P2", job.id, f"expected {row.expect}, ended as {row.status}{' (' + row.reason + ')' if row.reason else ''}", job.ids())


def check_oddities(run, verdict):
    """What no job's own story shows."""
    for t, actor, asked, got, jobs in run.overclaims:
        verdict.add("unexpected", "P2", actor, f"a claim for at most {asked} jobs was answered with {got}", jobs[:5])
    for job_id, token in run.double_claims:
        verdict.add("unexpected", "P2", job_id, f"delivery {short(token)} was handed out by two claims", (job_id, token))
    for t, actor, job_id, token in run.stray_runs:
        verdict.add("unexpected", "P2", job_id, f"{actor} ran delivery {short(token)}, which no claim was answered with", (job_id, token))
    for delivery in run.tokens.values():
        if delivery.runs > 1:
            verdict.add("duplicated effect", "P2", delivery.job.id, f"delivery {short(delivery.token)} was run {delivery.runs} times", delivery.job.ids())
        elif delivery.call_t is None and not delivery.job.flagged:
            verdict.add("unexpected", "P2", delivery.job.id, f"delivery {short(delivery.token)} was settled, but no claim was answered with it",
                        delivery.job.ids())


def short(token):
    return str(token)[:8]
