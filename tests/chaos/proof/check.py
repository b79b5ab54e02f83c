"""check_run: the whole judgement of one run directory."""
import gc

from .checks import ALL
from .evidence import read_evidence
from .faults import harms
from .history import read_history
from .options import Options, read_run
from .story import tell_stories
from .timeline import timeline
from .verdict import Verdict


class NotARun(Exception):
    """The directory holds no history, or no dump: nothing can be said about it, least of all that it is fine."""


def check_run(directory, options=None):
    """Judges the run, writes verdict.json and violations.json into its directory, and returns the Verdict."""
    options = options if options is not None else Options.from_run(directory)
    verdict = Verdict(options.stories_max)
    # Millions of small objects live until the end and none of them in cycles: collecting only costs.
    collecting = gc.isenabled()
    gc.disable()
    try:
        run = read_history(directory)
        if not run.files or run.lines == run.torn:
            raise NotARun(f"{directory}: no history files")
        read_evidence(run, directory)
        if not run.has_dump:
            raise NotARun(f"{directory}: no jobs.jsonl; take a dump of the database first")
        for check in ALL:
            check.check(run, options, verdict)
        tell_stories(run, directory, verdict, options)
        describe(run, directory, verdict, options)
    finally:
        if collecting:
            gc.enable()
    verdict.write(directory)
    return verdict


def describe(run, directory, verdict, options):
    verdict.run = read_run(directory)
    verdict.run.setdefault("lease_ms", options.lease_ms)
    unknown = sum(n for (op, phase), n in run.calls.items() if phase in ("unknown", "unanswered"))
    verdict.figures.update(
        lines=run.lines, torn_lines=run.torn, files=len(run.files), calls=sum(run.calls.values()), unknown_calls=unknown,
        faults=sum(map(harms, run.faults)), kills=sum(a.dead_t is not None for a in run.actors.values()),
        stops=sum(len(a.stops) for a in run.actors.values()), seconds=round(run.seconds(run.last_t), 3),
        down_seconds=round(sum(e - b for b, e in run.down.spans) / 1e9, 3))
    verdict.check("history", "every line could be read", run.torn == 0 or run.torn <= verdict.figures["kills"] + verdict.figures["faults"],
                  f"{run.lines} lines of {len(run.files)} processes, {unknown} calls with unknown fate, {run.torn} torn lines")
    verdict.timeline = timeline(run)
