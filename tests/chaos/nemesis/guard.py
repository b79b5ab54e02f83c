"""Guard: ends what a run has started when the run itself is killed.

A process of its own that holds the reading end of a pipe. The run tells it what exists (processes, mounts); when the pipe ends, because the
run closed it or died in any way, the guard kills and unmounts what is left. Files stay: after such an end they are the evidence. A run that
forks without exec must end those children first: they hold the pipe open.

    guard = Guard(); guard.watch("process", pid); guard.forget("process", pid); guard.close()
"""
import json
import os
import pathlib
import signal
import subprocess
import sys


def start_time(pid):
    """Tells a process from a later one with the same number; None when it is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    words = text[text.rindex(")") + 2:].split()
    return None if words[0] in "ZX" else int(words[19])  # Ended and not yet fetched by its parent is gone, too.


def children(pid):
    """Process numbers of the children, of all its threads."""
    found = []
    try:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            found += [int(word) for word in (task / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def descendants(pid):
    found = []
    for child in children(pid):
        found.append(child)
        found += descendants(child)
    return found


class Guard:
    def __init__(self):
        self._process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, start_new_session=True)

    def watch(self, kind, value):
        self._say("watch", kind, value, start_time(value) if kind == "process" else None)

    def forget(self, kind, value):
        self._say("forget", kind, value, None)

    def _say(self, *words):
        # One write: several threads may speak.
        os.write(self._process.stdin.fileno(), (json.dumps(words) + "\n").encode())

    def close(self):
        if self._process.stdin:
            self._process.stdin.close()
            self._process.stdin = None
            self._process.wait()


def end_process(pid, started):
    if start_time(pid) != started:
        return
    for victim in [pid] + descendants(pid):
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            pass


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watched = {}
    for line in sys.stdin:
        verb, kind, value, mark = json.loads(line)
        if verb == "watch":
            watched[kind, value] = mark
        else:
            watched.pop((kind, value), None)
    for (kind, value), mark in reversed(watched.items()):
        if kind == "process":
            end_process(value, mark)
    for kind, value in reversed(watched):
        if kind == "mount":
            subprocess.run(["umount", "-l", value], capture_output=True)


if __name__ == "__main__":
    main()
