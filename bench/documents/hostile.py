#!/usr/bin/env python3
"""What hostile documents cost the other jobs of the same machine (T18).

One PostgreSQL, one server, one worker for documents, and `millrace bench drain` on a queue of its own as the other work. Plain jobs are
drained in turns: while the worker of documents has nothing to do, and while all its places are busy with files of the hostile corpus that
take the most processor time. Printed are jobs a second of both, the ratio of the medians, and how much processor time the readers got.

  python3 bench/documents/hostile.py [--jobs 300000] [--repeats 5] [--document-program PATH] [--millrace PATH]
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
BUILD = ROOT / "build" / "release"
QUEUES = ("fast_queue", "ai_queue")
# Files that keep a reader busy for half a second and are refused then; the names are those of `hostile_files`.
BUSY = ("pages that share a hundred thousand objects", "hundreds of streams below the floor", "one page a million times", "a million words obj")


class Deployment:
    def __init__(self, folder, options):
        self.millrace, self.data, self.processes = options.millrace, folder / "data", []
        ready = folder / "ready.json"
        self.start(["--log-level", "warn", "up", "--no-worker", "--listen", "127.0.0.1:0", "--ready-file", ready], ready)
        told = json.loads(ready.read_text())
        self.url, self.database = told["http_url"], told["database_url"]
        env = {"MILLRACE_DOCUMENTS_PROGRAM": str(options.document_program), "MILLRACE_DOCUMENTS_SCRATCH_DIR": str(folder / "scratch")}
        ready = folder / "worker.json"
        queues = [argument for queue in QUEUES for argument in ("--queue", queue)]
        self.worker = self.start(["--log-level", "error", "worker", *queues, "--slots", "4", "--no-keeper", "--ready-file", ready], ready, env)

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


def drain(deployment, jobs):
    told = deployment.run("--database-url", deployment.database, "--json", "bench", "drain", "--force", "--repeats", "1", "--processes", "1", "--jobs", str(jobs))
    return json.loads(told)["results"][0]["median"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=300_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--documents", type=int, default=40, help="uploaded before each loaded drain")
    parser.add_argument("--document-program", type=pathlib.Path, default=BUILD / "millrace-document")
    parser.add_argument("--millrace", type=pathlib.Path, default=BUILD / "millrace")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # Tidies up, too.
    folder = pathlib.Path(tempfile.mkdtemp(prefix="millrace_hostile_"))
    os.chmod(folder, 0o755)
    deployment = Deployment(folder, options)
    try:
        files = busy_files(folder / "corpus")
        print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, {options.jobs} plain jobs a drain, {len(files)} kinds of busy files", flush=True)
        alone, beside, shares = [], [], []
        drain(deployment, options.jobs)  # Warm.
        for repeat in range(options.repeats):
            for loaded in ((False, True) if repeat % 2 == 0 else (True, False)):
                if not loaded:
                    alone.append(drain(deployment, options.jobs))
                    continue
                for queue in QUEUES:
                    deployment.run("queues", "pause", queue)
                for _ in range(options.documents // len(files)):
                    deployment.upload(files)
                for queue in QUEUES:
                    deployment.run("queues", "resume", queue)
                before, began = deployment.readers_seconds(), time.monotonic()
                beside.append(drain(deployment, options.jobs))
                shares.append((deployment.readers_seconds() - before) / (time.monotonic() - began))
                if deployment.waiting() == 0:
                    sys.exit("the hostile files ended before the plain jobs: more --documents")
                while deployment.waiting() > 0:
                    time.sleep(0.2)
            print(f"  {repeat + 1}/{options.repeats}: alone {alone[-1]:.0f}/s, beside hostile files {beside[-1]:.0f}/s; readers used {shares[-1]:.2f} processors", flush=True)
        a, b = statistics.median(alone), statistics.median(beside)
        print(f"plain jobs: alone {a:.0f}/s, beside hostile files {b:.0f}/s: {b / a:.3f} of it, {(1 - b / a):.1%} less; readers used {statistics.median(shares):.2f} processors meanwhile")
    finally:
        deployment.stop()
        shutil.rmtree(folder)


main()
