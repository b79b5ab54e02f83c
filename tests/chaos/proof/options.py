"""What the checker must know about a run that the history does not say: bars, margins and what was to be reached.

A run leaves them in run.json beside its history, together with the seed, profile and conditions that the report shows.
"""
import dataclasses
import json
import pathlib


@dataclasses.dataclass
class Options:
    lease_ms: int = 1000
    # A dead worker's jobs are handed out again within lease + margin; under a supervisor within supervised_ms.
    # Both are bars of the 99th percentile; twice the lease plus the margin bounds every single job.
    recovery_margin_ms: int = 1500
    supervised_ms: int = 500
    # "claim": until somebody has the job again. "reclaim": until it may be handed out, for runs whose backlog
    # is meant to be longer than their workers can serve.
    recovery_by: str = "claim"
    # After the database is back, the first call must succeed within this time.
    resume_ms: int = 5000
    # Requests arrive at a stand-in later than they were granted: windows by arrival are shorter by this.
    arrival_margin_ms: int = 1000
    # A slot may outlive its job for so long: until somebody asks for room, or the keeper sweeps.
    slot_grace_s: float = 30.0
    # The run ends with every job finished: whatever still lives is stuck.
    expect_drained: bool = True
    # Effect of jobs whose payload does not name theirs: row, http, both or none.
    effect_default: str = "row"
    # Job types that nobody in the history enqueues (cron, callbacks of batches).
    ignore_types: tuple = ()
    # Names that must have been reached: fault points and MR_SOMETIMES properties. None: not judged.
    points: list = None
    sometimes: list = None
    # Deliveries that no fault and no outcome explains, as a share of all.
    extra_deliveries_max: float = None
    stories_max: int = 25
    story_lines_max: int = 30

    @classmethod
    def from_run(cls, directory, **overrides):
        """run.json's values, then what the caller says; unknown names in run.json are for the report only."""
        known = {field.name for field in dataclasses.fields(cls)}
        values = {name: value for name, value in read_run(directory).items() if name in known}
        values.update({name: value for name, value in overrides.items() if value is not None})
        options = cls(**values)
        options.points = name_list(directory, options.points)
        options.sometimes = name_list(directory, options.sometimes)
        return options


def read_run(directory):
    path = pathlib.Path(directory) / "run.json"
    return json.loads(path.read_text()) if path.exists() else {}


def name_list(directory, value):
    """A list as it is, or the lines of a file (one name per line, the first word counts, # begins a comment)."""
    if value is None or isinstance(value, (list, tuple)):
        return value
    path = pathlib.Path(value)
    if not path.exists():
        path = pathlib.Path(directory) / value
    lines = (line.split("#")[0].split() for line in path.read_text().splitlines())
    return [words[0] for words in lines if words]
