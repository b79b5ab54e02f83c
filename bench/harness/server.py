"""The server that everybody is measured on: the private cluster of `millrace bench serve`, one database per measurement."""

import json
import pathlib
import signal
import subprocess
import time

START_SECONDS = 120


class Failed(RuntimeError):
    """A program that the benchmark ran did not do its work."""


def run(argv, timeout=1800, **options):
    """Runs a program to its end; its standard output."""
    name = pathlib.Path(str(argv[0])).name
    try:
        done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, timeout=timeout, **options)
    except subprocess.TimeoutExpired:
        raise Failed(f"{name} did not end within {timeout} s") from None
    if done.returncode != 0:
        raise Failed(f"{name} ended with {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout


class Server:
    def __init__(self, millrace, folder):
        self.millrace = pathlib.Path(millrace).resolve()
        self.folder = pathlib.Path(folder).resolve()
        self.facts = {}
        self._process = None

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        ready = self.folder / "serving.json"
        ready.unlink(missing_ok=True)
        self._log = open(self.folder / "serve.log", "w")
        self._process = subprocess.Popen([self.millrace, "bench", "serve", "--folder", self.folder], stdout=self._log, stderr=self._log)
        end = time.monotonic() + START_SECONDS
        while not ready.exists():
            if self._process.poll() is not None or time.monotonic() > end:
                self.__exit__()
                raise Failed(f"the server did not start: {(self.folder / 'serve.log').read_text()[-600:]}")
            time.sleep(0.05)
        self.facts = json.loads(ready.read_text())
        return self

    def __exit__(self, *_):
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._log.close()

    def url(self, database):
        """postgresql://user@/millrace?host=…, with another database."""
        head, tail = self.facts["database_url"].split("@/", 1)
        return f"{head}@/{database}?{tail.split('?', 1)[1]}"

    def sql(self, text, database="postgres"):
        return run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.url(database), "-c", text]).strip()

    def script(self, file, database):
        run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.url(database), "-f", file])

    def fresh(self, database):
        """An empty database of this name; its url."""
        self.drop(database)
        self.sql(f"create database {database}")
        self.sql("checkpoint")
        return self.url(database)

    def drop(self, database):
        self.sql(f"drop database if exists {database} with (force)")

    def wal_bytes(self):
        """Written since the server's beginning; only differences mean anything."""
        return int(self.sql("select (pg_current_wal_lsn() - '0/0')::bigint"))

    def bench(self, row, *arguments, timeout=3600):
        """One row of `millrace bench` on this server, in a fresh database: what it printed as JSON."""
        text = run([self.millrace, "--json", "bench", row, "--served", "--folder", self.folder, *arguments], timeout=timeout)
        return json.loads(text)

    def loop(self, url, statement, params, clients, seconds):
        """Calls a second of one statement by plain C++ clients, the same that make Millrace's single calls."""
        argv = [
            self.millrace,
            "--json",
            "bench",
            "loop",
            "--url",
            url,
            "--statement",
            statement,
            "--clients",
            clients,
            "--seconds",
            seconds,
        ]
        for param in params:
            argv += ["--param", param]
        return json.loads(run(argv))["rate"]

    def http_load(self, url, requests, ids, token, connections, seconds, payload_bytes):
        """What the load generator of `millrace bench http` gets of any server."""
        argv = [self.millrace, "--json", "bench", "http", "--url", url, "--requests", requests, "--ids", ids, "--token", token]
        argv += ["--connections", connections, "--seconds", seconds, "--payload-bytes", payload_bytes]
        return json.loads(run(argv))
