"""What the chaos runs share: a private cluster, psql, processes that are killed, and an account."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time


class Run:
    """One run in a directory of its own; everything it starts ends with it."""

    def __init__(self, build, seed):
        self.build = pathlib.Path(build).resolve()
        self.seed = seed if seed is not None else random.SystemRandom().randrange(1 << 32)
        self.random = random.Random(self.seed)
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="millrace-chaos-"))
        self.processes = []
        self.url = None
        print(f"seed {self.seed}", flush=True)

    def __enter__(self):
        ready = self.dir / "ready.json"
        log = open(self.dir / "up.log", "w")
        env = {k: v for k, v in os.environ.items() if k != "DATABASE_URL" and not k.startswith("MILLRACE_")}
        self.up = subprocess.Popen([self.build / "millrace", "up", "--no-worker", "--data-dir", self.dir / "data", "--ready-file", ready],
                                   stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.dir, env=env)
        deadline = time.monotonic() + 120
        while not ready.exists():
            if self.up.poll() is not None or time.monotonic() > deadline:
                sys.exit("millrace up did not start:\n" + (self.dir / "up.log").read_text())
            time.sleep(0.05)
        self.url = json.loads(ready.read_text())["database_url"]
        return self

    def __exit__(self, *failure):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        self.up.send_signal(signal.SIGTERM)
        try:
            self.up.wait(60)
        except subprocess.TimeoutExpired:
            self.up.kill()
            self.up.wait()
        if failure[0] is None:
            shutil.rmtree(self.dir, ignore_errors=True)
        else:
            print(f"the run's files are kept in {self.dir}", flush=True)

    def sql(self, text):
        done = subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", self.url, "-c", text], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return done.stdout.strip()

    def number(self, text):
        return int(self.sql(text) or 0)

    def start(self, *command):
        log = open(self.dir / "processes.log", "a")
        process = subprocess.Popen([str(c) for c in command], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def kill(self, process):
        process.kill()
        process.wait()
        self.processes.remove(process)


class Verdict:
    """Collects checks; every one is printed, and a failed one makes the run fail."""

    def __init__(self):
        self.failed = 0
        self.passed = 0

    def check(self, name, good, figure):
        print(f"{'ok  ' if good else 'FAIL'} {name}: {figure}", flush=True)
        self.passed += bool(good)
        self.failed += not good

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        sys.exit(1 if self.failed else 0)
