"""Runs named tests on mutants and says what became of them.

Every run has a test server of its own (TMPDIR decides where tests/support puts it): roles belong to a server, and a mutant's
roles must not be met by the next one.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from mutant import Bad

LANES = 2
# Of one test on one mutant, in seconds; a test that hangs has noticed, too. Those without a database take milliseconds.
TIMEOUT = 90
TIMEOUT_UNIT = 20


class Run:
    """How one program ended; code is None when it was killed because it hung."""

    def __init__(self, code, output):
        self.code, self.output = code, output

    @property
    def tests(self):
        ran = re.search(r"^\[=+\] (\d+) tests? from .* ran\.", self.output, re.M)
        return int(ran[1]) if ran else 0

    @property
    def installed(self):
        return "no test server:" not in self.output

    def failures(self):
        return sorted(set(re.findall(r"^\[  FAILED  \] ([\w/]+\.[\w/]+)", self.output, re.M)))


def stop_server(folder):
    """A test that was killed cannot stop the server it started."""
    for pid_file in folder.glob("millrace-testpg-*/data/postmaster.pid"):
        try:
            os.kill(int(pid_file.read_text().split()[0]), signal.SIGQUIT)
        except (ValueError, IndexError, ProcessLookupError):
            pass


def end_session(leader):
    """Ends the program and whatever it started that still lives, also in process groups of its own."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == leader.pid:
                os.kill(int(stat.parent.name), signal.SIGKILL)
        except (OSError, ValueError, IndexError):
            continue  # It has ended meanwhile.
    leader.wait()


def run_tests(program, names, env=None):
    """Runs the tests named, on a server of their own."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="mrm"))
    folder.chmod(0o755)  # The user postgres must get through.
    variables = {k: v for k, v in os.environ.items() if k != "DATABASE_URL" and not k.startswith("MILLRACE_")}
    variables |= {"TMPDIR": str(folder), **(env or {})}
    limit = TIMEOUT if pathlib.Path(program).name.endswith("_pg_test") else TIMEOUT_UNIT
    # Into a file: a pipe stays open as long as any process that a mutant left behind has it.
    with open(folder / "output", "wb") as output:
        process = subprocess.Popen([program, "--gtest_filter=" + ":".join(names)], env=variables, cwd=folder, start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
    try:
        code = process.wait(limit * len(names))
    except subprocess.TimeoutExpired:
        code = None
    finally:
        end_session(process)
        stop_server(folder)
        text = (folder / "output").read_text(errors="replace")
        shutil.rmtree(folder, ignore_errors=True)
    return Run(code, text)


def verdict(run):
    """(caught?, one word for the line), or Bad."""
    if not run.installed:
        reason = next((line for line in run.output.splitlines() if "no test server:" in line), "")
        raise Bad(f"does not install: {reason.strip()[:300]}")
    if run.code is None:
        return True, "caught (hangs)"
    if run.code == 0:
        if run.tests != 1:
            raise Bad(f"the test ran {run.tests} times")
        return False, "SURVIVED"
    return True, "caught" if run.tests else "caught (dies)"


def in_lanes(work, items, count=LANES):
    """Yields (item, result or exception, seconds) in the order they end, a few at a time."""
    def timed(item):
        started = time.monotonic()
        try:
            result = work(item)
        except Exception as problem:  # Told with the item it belongs to.
            result = problem
        return result, time.monotonic() - started

    with concurrent.futures.ThreadPoolExecutor(count) as lanes:
        jobs = {lanes.submit(timed, item): item for item in items}
        for job in concurrent.futures.as_completed(jobs):
            yield jobs[job], *job.result()


def check_healthy(folder, mutants):
    """Every named test must pass without any mutant; returns complaints."""
    by_program = {}
    for mutant in mutants:
        by_program.setdefault(mutant.program, set()).add(mutant.test)
    complaints = []

    def work(program):
        return run_tests(folder / program, sorted(by_program[program]))

    for program, run, _ in in_lanes(work, sorted(by_program, key=lambda p: -len(by_program[p]))):
        wanted = len(by_program[program])
        if isinstance(run, Exception):
            complaints.append(f"{program}: {run}")
        elif run.code is None:
            complaints.append(f"{program} hangs without any mutant")
        elif run.code != 0:
            complaints.append(f"{program} fails without any mutant: {', '.join(run.failures()) or run.output[-500:]}")
        elif run.tests != wanted:
            complaints.append(f"{program} has {run.tests} of the {wanted} tests named: {', '.join(sorted(by_program[program]))}")
    return complaints
