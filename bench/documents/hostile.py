#!/usr/bin/env python3
"""What hostile documents cost the other jobs of the same machine (T18).

One PostgreSQL, one server, one worker for documents, and `millrace bench` on queues of its own as the other work. Hostile files are those of the
corpus that take the most processor time; while they are measured beside, all places of the worker have one, and more wait.

Offered load: plain jobs are sent at a steady rate, 50 and 80 % of what this machine takes in and runs alone at such a rate (measured first, producers and
worker together, without documents), in turns alone and beside hostile files. The goal is for the jobs that are done a second: at most 5 % fewer. How long single
jobs beside that load wait for their start is told too.

Saturation: a backlog is drained as fast as it goes, in turns alone, beside hostile files, and beside as many loops that do nothing at the priority of
readers. Whatever runs on the other half of a core costs the first half, so that no priority keeps a saturated drain at its pace: this part is
information, and the loops say how much of the loss is that of any work at all.

  python3 bench/documents/hostile.py [--seconds 24] [--repeats 3] [--drains 5] [--jobs 300000] [--slots 4] [--document-program PATH] [--millrace PATH]
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from verdicts import Verdicts  # noqa: E402

BUILD = ROOT / os.environ.get("MILLRACE_BUILD", "build/release")
QUEUES = ("fast_queue", "ai_queue")
SHARES = (0.5, 0.8)  # Of what the machine takes in and runs alone.
LOSS = 0.05
READER_NICE = 19
# Files that keep a reader busy for half a second and are refused then; the names are those of `hostile_files`.
BUSY = ("pages that share a hundred thousand objects", "hundreds of streams below the floor", "one page a million times", "a million words obj")


class Deployment:
    def __init__(self, folder, options):
        self.millrace, self.data, self.processes, self.slots = options.millrace, folder / "data", [], options.slots
        ready = folder / "ready.json"
        self.start(["--log-level", "warn", "up", "--no-worker", "--listen", "127.0.0.1:0", "--ready-file", ready], ready)
        told = json.loads(ready.read_text())
        self.url, self.database = told["http_url"], told["database_url"]
        env = {"MILLRACE_DOCUMENTS_PROGRAM": str(options.document_program), "MILLRACE_DOCUMENTS_SCRATCH_DIR": str(folder / "scratch")}
        ready = folder / "worker.json"
        queues = [argument for queue in QUEUES for argument in ("--queue", queue)]
        self.worker = self.start(["--log-level", "error", "worker", *queues, "--slots", str(options.slots), "--no-keeper", "--ready-file", ready], ready, env)

    def start(self, arguments, ready, env=None):
        process = subprocess.Popen([self.millrace, "--data-dir", self.data, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, **(env or {})})
        self.processes.append(process)
        while not ready.exists():
            if process.poll() is not None:
                sys.exit(f"millrace {arguments[2]} ended before it was ready")
            time.sleep(0.05)
        return process

    def run(self, *arguments):
        done = subprocess.run([self.millrace, "--data-dir", self.data, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"millrace {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()

    def upload(self, files):
        """To a tenant of its own, so that nothing is taken over from an equal file."""
        token = self.run("--tenant", str(uuid.uuid4()), "token", "create", "--role", "authenticated", "--user", str(uuid.uuid4())).strip()
        for name, content in files:
            request = urllib.request.Request(f"{self.url}/api/v1/uploads?file_name={name}.pdf", data=content,
                                             headers={"Authorization": "Bearer " + token, "Content-Type": "application/pdf"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                answer.read()

    def number(self, sql):
        return int(self.run("psql", "--", "-X", "-A", "-t", "-c", sql).strip())

    def waiting(self):
        return self.number("select count(*) from millrace.shell_files where status in ('uploaded', 'processing')")

    def clear(self):
        """Ends the documents that are left: their readers are killed, the rest is not begun."""
        for queue in QUEUES:
            self.run("queues", "pause", queue)
        self.number("select count(*) from millrace.cancel_jobs(array(select coalesce(d.job_id, f.job_id) from millrace.shell_files f left join millrace.document d on d.file_id = f.id "
                    "where f.status in ('uploaded', 'processing')))")
        while self.number(f"select coalesce(sum(live), 0) from millrace.queue_counts() where queue = any ('{{{','.join(QUEUES)}}}')") > 0:
            time.sleep(0.2)

    def readers_seconds(self):
        """Processor time of the readers that have ended, and of those that run."""
        ticks, families = 0, {self.worker.pid}
        for stat in sorted(pathlib.Path("/proc").glob("[0-9]*/stat"), key=lambda path: int(path.parts[2])):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) in families:
                families.add(int(stat.parts[2]))
                ticks += sum(map(int, fields[11:15]))  # Its own, and of its children that are gone.
        return ticks / os.sysconf("SC_CLK_TCK")


def busy_files(folder):
    subprocess.run([BUILD / "hostile_files", folder], check=True, stdout=subprocess.DEVNULL)
    listed = (line.split("\t") for line in (folder / "list.txt").read_text().splitlines())
    found = [(f"file{number}", (folder / number).read_bytes()) for number, _, name in listed if name.removeprefix("pdf: ") in BUSY]
    if len(found) != len(BUSY):
        sys.exit(f"of {len(BUSY)} busy files the corpus has {len(found)}")
    return found


def bench(deployment, *arguments):
    """Cases of one bench by their names."""
    told = deployment.run("--database-url", deployment.database, "--json", "bench", *arguments, "--force", "--processes", "1")
    return {case["case"]: case for case in json.loads(told)["results"]}


class Alone:
    """Nobody beside."""

    def __init__(self, *_):
        self.processors = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


class Hostile:
    """All places of the documents' worker have a hostile file as long as this lasts, and more wait."""

    def __init__(self, deployment, files, documents):
        self.deployment, self.files, self.documents = deployment, files, documents

    def __enter__(self):
        for queue in QUEUES:
            self.deployment.run("queues", "pause", queue)
        for _ in range(-(-self.documents // len(self.files))):
            self.deployment.upload(self.files)
        for queue in QUEUES:
            self.deployment.run("queues", "resume", queue)
        self.before, self.began = self.deployment.readers_seconds(), time.monotonic()
        return self

    def __exit__(self, kind, *_):
        self.processors = (self.deployment.readers_seconds() - self.before) / (time.monotonic() - self.began)
        if kind is None and self.deployment.waiting() == 0:
            sys.exit("the hostile files ended before the plain jobs: more --documents")
        if kind is None:
            self.deployment.clear()
        return False


class Loops:
    """As many loops as there are readers, at their priority, in a session of their own as readers have one."""

    def __init__(self, deployment, *_):
        self.count = deployment.slots

    def __enter__(self):
        code = f"import os\nos.setsid()\nopen('/proc/self/autogroup', 'w').write('{READER_NICE}') if os.path.exists('/proc/self/autogroup') else None\n" \
               f"os.setpriority(os.PRIO_PROCESS, 0, {READER_NICE})\nfor _ in range({self.count - 1}):\n    if os.fork() == 0: break\nwhile True: pass"
        self.process = subprocess.Popen([sys.executable, "-c", code])
        self.began = time.monotonic()
        return self

    def __exit__(self, *_):
        ticks = 0
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[3]) == self.process.pid:  # Its session.
                ticks += sum(map(int, fields[11:13]))
        self.processors = ticks / os.sysconf("SC_CLK_TCK") / (time.monotonic() - self.began)
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        return False


def in_turns(repeats, worlds, measure):
    """What `measure` says in each world, by its name, with the processors that those beside it used; the order changes with every repeat."""
    found = {name: [] for name in worlds}
    for repeat in range(repeats):
        names = list(worlds) if repeat % 2 == 0 else list(reversed(worlds))
        for name in names:
            with worlds[name]() as world:
                figure = measure()
            found[name].append((figure, world.processors))
            print(f"  {repeat + 1}/{repeats} {name}: {figure}, {world.processors:.2f} processors beside", flush=True)
    return found


def median(found, name, pick):
    return statistics.median(pick(figure) for figure, _ in found[name])


def used(found, name):
    return statistics.median(processors for _, processors in found[name])


def offered(deployment, files, options, verdicts):
    runs = [bench(deployment, "sustained", "--repeats", "1", "--seconds", str(max(4, options.seconds // 2)))["producers and workers"]["median"] for _ in range(3)]
    most = statistics.median(runs[1:])  # The first one warms up.
    # At a steady rate less is taken in than as fast as it goes: what is done of too much is what can be offered.
    capacity = statistics.fmean(bench(deployment, "soak", "--rate", f"{most:.0f}", "--seconds", str(options.seconds))["settled"]["samples"])
    print(f"alone this machine takes in and runs {most:.0f} jobs a second as fast as it goes (of {[round(run) for run in runs]}), {capacity:.0f} at a steady rate", flush=True)
    for share in SHARES:
        rate = share * capacity

        def measure(rate=rate):
            cases = bench(deployment, "soak", "--rate", f"{rate:.0f}", "--seconds", str(options.seconds))
            wait, late = cases["pickup beside the load"]["ms"], cases["settled"]["producer_late_seconds"]
            return {"rate": round(statistics.fmean(cases["settled"]["samples"])), "p50": wait["p50"], "p99": wait["p99"], "late": round(late, 2)}

        print(f"offered {share:.0%} of it, {rate:.0f} jobs a second:", flush=True)
        found = in_turns(options.repeats, {"alone": Alone, "beside hostile files": lambda: Hostile(deployment, files, options.documents)}, measure)
        alone, beside = (median(found, name, lambda figure: figure["rate"]) for name in found)
        verdicts.at_most(f"offered {share:.0%}: fewer jobs done beside hostile files", 1 - beside / alone, LOSS)
        for part in ("p50", "p99"):
            for name in found:
                verdicts.told(f"offered {share:.0%}: {part} of a single job, {name}, ms", median(found, name, lambda figure, part=part: figure[part]), form=".2f")
        verdicts.told(f"offered {share:.0%}: processors that readers used", used(found, "beside hostile files"), form=".2f")


def saturated(deployment, files, options, verdicts):
    def measure():
        return round(bench(deployment, "drain", "--repeats", "1", "--jobs", str(options.jobs))["1 process"]["median"])

    bench(deployment, "drain", "--repeats", "1", "--jobs", str(options.jobs))  # Warm.
    print(f"a backlog of {options.jobs} drained as fast as it goes, jobs a second:", flush=True)
    found = in_turns(options.drains, {"alone": Alone, "hostile files": lambda: Hostile(deployment, files, options.documents // 2), "loops": lambda: Loops(deployment)}, measure)
    alone, beside, loops = (median(found, name, float) for name in found)
    verdicts.told("drain: fewer beside hostile files", 1 - beside / alone)
    verdicts.told("drain: fewer beside loops that do nothing", 1 - loops / alone)
    verdicts.told("drain: hostile files against loops", beside / loops)
    verdicts.told("drain: processors that readers used", used(found, "hostile files"), form=".2f")
    verdicts.told("drain: processors that loops used", used(found, "loops"), form=".2f")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=24, help="of offered load; the first third is not counted")
    parser.add_argument("--repeats", type=int, default=3, help="of each offered load")
    parser.add_argument("--drains", type=int, default=5, help="0: no saturation")
    parser.add_argument("--jobs", type=int, default=300_000, help="of a drain")
    parser.add_argument("--slots", type=int, default=4, help="of the documents' worker")
    parser.add_argument("--documents", type=int, default=120, help="uploaded before each load, half of them before a drain")
    parser.add_argument("--document-program", type=pathlib.Path, default=BUILD / "millrace-document")
    parser.add_argument("--millrace", type=pathlib.Path, default=BUILD / "millrace")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # Tidies up, too.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="millrace_hostile_"))
    os.chmod(folder, 0o755)
    deployment = Deployment(folder, options)
    verdicts = Verdicts()
    try:
        files = busy_files(folder / "corpus")
        print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {options.slots} readers, {len(files)} kinds of busy files", flush=True)
        offered(deployment, files, options, verdicts)
        if options.drains > 0:
            saturated(deployment, files, options, verdicts)
    finally:
        deployment.stop()
        shutil.rmtree(folder)
    return verdicts.end()


sys.exit(main())
