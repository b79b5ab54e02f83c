"""What a run was to reach, it reached: fault points, MR_SOMETIMES properties. What must always hold, held."""
import collections


def check(run, options, verdict):
    before = verdict.total()
    hits = count_hits(run)
    verdict.reached = sorted(run.reached)
    verdict.points = point_table(run, verdict, hits, options.points or ())
    for point in options.points or ():
        if not hits.get(point):
            verdict.add("never reached", "coverage", point, f"fault point {point} was armed {run.armed.get(point, 0)} times and never hit")
    for name in options.sometimes or ():
        if not run.reached.get(name):
            verdict.add("never reached", "coverage", name, f"property {name} was never seen to hold")
    for t, actor, name in run.broken:
        verdict.add("invariant broken", "coverage", name, f"{actor} found {name} violated at {run.seconds(t):.3f} s")
    hit = [p for p in hits if options.points is None or p in options.points]
    verdict.figures.update(points_hit=len(hit), point_hits=sum(sum(h.values()) for h in hits.values()),
                           properties_reached=len(run.reached))
    if options.points or options.sometimes or hits:
        wanted = f" of {len(options.points)}" if options.points else ""
        seen = f"{len(run.reached)}{f' of {len(options.sometimes)}' if options.sometimes else ''} properties seen"
        verdict.check("coverage", "every point hit, every property seen, none broken", verdict.total() == before,
                      f"{verdict.figures['points_hit']}{wanted} points, {verdict.figures['point_hits']} hits; {seen}")


def count_hits(run):
    """Point -> actions. A process tells of its own hits; the nemesis of those that processes without a history died at."""
    hits = collections.defaultdict(collections.Counter)
    for fault in run.faults:
        if not fault.point:
            continue
        told_itself = fault.actor is not None and fault.by != fault.actor.name and any(p == fault.point for _, p, _ in fault.actor.points)
        if not told_itself:
            hits[fault.point][fault.kind] += 1
    return hits


def point_table(run, verdict, hits, wanted):
    """A row per point: how often armed and hit, with which actions, and what became of the jobs that its victims held."""
    victims = collections.defaultdict(set)
    for actor in run.actors.values():
        for _, point, _ in actor.points:
            victims[point].add(actor.name)
    held = collections.defaultdict(set)
    for violation in verdict.violations:
        for item in violation.ids:
            delivery = run.tokens.get(item)
            if delivery is not None:
                held[delivery.actor.name].add(violation.subject)
    recovered = collections.Counter()
    for job in run.jobs.values():
        for lost in job.lost_deliveries:
            delivery = run.tokens.get(lost.token)
            actor = delivery.actor if delivery is not None else run.workers.get(lost.worker)
            if actor is not None and not job.flagged:
                recovered[actor.name] += 1
    table = []
    for point in sorted({*wanted, *hits, *(p for p in run.armed if p)}):
        names = victims.get(point, ())
        table.append({"point": point, "armed": run.armed.get(point, 0), "hit": sum(hits[point].values()) if point in hits else 0,
                      "actions": dict(hits[point]) if point in hits else {}, "recovered": sum(recovered[n] for n in names),
                      "violations": len(set().union(*(held[n] for n in names))) if names else 0, "wanted": point in wanted})
    return table
