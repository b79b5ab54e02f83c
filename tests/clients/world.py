"""World: a real Millrace for a test: database, server and worker from nothing in a folder of its own, gone afterwards."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

WAIT_SECONDS_MAX = 120
KEPT = ("PATH", "HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS")


def eventually(holds, what):
    """The first true value of `holds`, which is asked again and again; the limit is only for tests that would hang."""
    give_up = time.monotonic() + WAIT_SECONDS_MAX
    while True:
        value = holds()
        if value:
            return value
        if time.monotonic() > give_up:
            raise AssertionError(f"{what} did not happen")
        time.sleep(0.02)


class Program:
    """`millrace …` in the background, from its ready file to its end."""

    def __init__(self, program, arguments, folder, env, name):
        self.log = folder / f"{name}.log"
        ready = folder / f"{name}.ready.json"
        with open(self.log, "wb") as output:
            self.process = subprocess.Popen([program, *arguments, "--ready-file", str(ready)], cwd=folder, env=env, stdout=output, stderr=output)

        def is_ready():
            if self.process.poll() is not None:
                raise AssertionError(f"{name} ended with {self.process.returncode}:\n{self.tail()}")
            return ready.exists()

        try:
            eventually(is_ready, f"{name} is ready")
        except BaseException:
            self.stop()
            raise
        self.ready = json.loads(ready.read_text())

    def tail(self):
        return self.log.read_text(errors="replace")[-4000:]

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class World:
    def __init__(self, program, env=None, arguments=()):
        self.program = str(pathlib.Path(program).resolve())
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="millrace-clients-"))
        self.folder.chmod(0o711)  # The database may run as another user, who must be able to pass.
        self.env = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.env |= {"MILLRACE_SERVER_LISTEN": "127.0.0.1:0", "MILLRACE_WORKER_TEST_OUTCOMES": "true", "MILLRACE_LOG_FORMAT": "json"}
        self.env |= env or {}
        self.started = []
        try:
            self.up = self.start("up", *arguments)
        except BaseException:
            self.close()
            raise
        self.url = self.up.ready.get("http_url")

    def start(self, *arguments, env=None):
        program = Program(self.program, arguments, self.folder, self.env | (env or {}), f"{arguments[0]}{len(self.started)}")
        self.started.append(program)
        return program

    def run(self, *arguments):
        return subprocess.run([self.program, *arguments], cwd=self.folder, env=self.env, capture_output=True, text=True, check=True).stdout.strip()

    def token(self, role, user=None):
        return self.run("token", "create", "--role", role, *(["--user", user] if user else []))

    def close(self):
        for program in reversed(self.started):
            program.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
