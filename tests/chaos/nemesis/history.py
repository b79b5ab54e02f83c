"""History: the file into which one process of a chaos run writes what it did and saw.

One JSON object per line, one write(2) per line, O_APPEND, so that a killed process leaves whole lines. The file is
`<role>-<pid>-<8 hex>.jsonl` in the directory given (or in $MILLRACE_HISTORY); without a directory nothing is written. `t` is
CLOCK_MONOTONIC in nanoseconds, comparable between the processes of one host. Safe to use from several threads.

    history = History(directory, "nemesis")
    history.fault("pg_crash", "db")                 {"t":…,"op":"fault","kind":"pg_crash","target":"db"}
    history.phase("load")                           {"t":…,"op":"phase","name":"load"}
    n = history.call("enqueue", keys=["k1"])        {"t":…,"n":0,"op":"enqueue","ph":"call","keys":["k1"]}
    history.ok(n, jobs=[…]) | fail(n, error=…) | unknown(n, error=…)
    read_all(directory)                             every line of every file as a dict with its "actor", by time
"""
import itertools
import json
import os
import pathlib
import secrets
import time


def now_ns():
    """The clock of all histories."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class History:
    def __init__(self, directory=None, role="nemesis"):
        directory = directory or os.environ.get("MILLRACE_HISTORY")
        self.actor = f"{role}-{os.getpid()}-{secrets.token_hex(4)}"
        self.directory = pathlib.Path(directory) if directory else None
        self.path = self.directory / f"{self.actor}.jsonl" if directory else None
        self._file = -1
        self._numbers = itertools.count()
        self._ops = {}
        if self.path:
            self.directory.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self.write("hello", actor=self.actor, role=role, pid=os.getpid(), wall_ms=time.time_ns() // 1_000_000)

    def write(self, op, t=None, **fields):
        """Returns the time that was written."""
        t = now_ns() if t is None else t
        if self._file >= 0:
            line = json.dumps({"t": t, "op": op, **fields}, separators=(",", ":"), default=str) + "\n"
            os.write(self._file, line.encode())
        return t

    def fault(self, kind, target, t=None, **fields):
        return self.write("fault", t=t, kind=kind, target=target, **fields)

    def phase(self, name, **fields):
        return self.write("phase", name=name, **fields)

    def call(self, op, **fields):
        n = next(self._numbers)
        self._ops[n] = op
        self.write(op, n=n, ph="call", **fields)
        return n

    def ok(self, n, **fields):
        return self.write(self._ops.pop(n), n=n, ph="ok", **fields)

    def fail(self, n, error, **fields):
        """It was certainly not done."""
        return self.write(self._ops.pop(n), n=n, ph="fail", error=str(error), **fields)

    def unknown(self, n, error, **fields):
        """It may or may not have been done."""
        return self.write(self._ops.pop(n), n=n, ph="unknown", error=str(error), **fields)

    def close(self):
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def read_file(path):
    """The whole lines of one file; a last line that was cut off is left out."""
    actor = pathlib.Path(path).stem
    lines = []
    for line in pathlib.Path(path).read_bytes().split(b"\n")[:-1]:
        entry = json.loads(line)
        entry["actor"] = actor
        lines.append(entry)
    return lines


def read_all(directory, pattern="*.jsonl"):
    lines = [entry for path in sorted(pathlib.Path(directory).glob(pattern)) for entry in read_file(path)]
    return sorted(lines, key=lambda entry: entry["t"])
