"""A Millrace of its own for a measurement: a private PostgreSQL, and programs that are started and stopped."""
import contextlib
import json
import os
import pathlib
import secrets
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TENANT = "00000000-0000-4000-8000-000000000001"
USER = "00000000-0000-4000-8000-0000000000aa"


class Installation:
    """In a folder that goes with it. `build`: where the programs are."""

    def __init__(self, build):
        self.millrace = str(pathlib.Path(build).resolve() / "millrace")
        self.folder = tempfile.TemporaryDirectory(prefix="millrace-export-")
        self.data = pathlib.Path(self.folder.name, "data")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("MILLRACE_") and k != "DATABASE_URL"}
        self.environment |= {"MILLRACE_DOCUMENTS_ENABLED": "false", "LOG_LEVEL": "warn",
                             "MILLRACE_AUTH_JWT_SECRET": secrets.token_hex(32)}  # One for all servers that are started here.
        self.url = None
        self.running = []

    def start(self, *arguments, private=False):
        """A program that says when it is ready; what it says, and the process."""
        ready = pathlib.Path(self.folder.name, f"ready-{len(self.running)}.json")
        environment = dict(self.environment)
        if not private:
            environment |= {"DATABASE_URL": self.url, "MILLRACE_STORAGE_FOLDER": str(self.data / "blobs")}
        began = time.monotonic()
        log = open(pathlib.Path(self.folder.name, f"log-{len(self.running)}"), "w")
        process = subprocess.Popen([self.millrace, "--data-dir", str(self.data), *arguments, "--ready-file", str(ready)], env=environment,
                                   stdout=log, stderr=subprocess.STDOUT, cwd=self.folder.name)
        self.running.append(process)
        while not ready.exists() or not ready.read_text().strip().endswith("}"):
            if process.poll() is not None or time.monotonic() - began > 60:
                sys.exit(f"millrace {arguments[0]} did not get ready:\n{pathlib.Path(log.name).read_text()[-1500:]}")
            time.sleep(0.02)
        return json.loads(ready.read_text()), process

    def database(self):
        said, _ = self.start("up", "--no-worker", "--listen", "127.0.0.1:0", private=True)
        self.url = said["database_url"]
        return said["http_url"]

    def sql(self, *statements):
        """Rows of all of them, each a list of texts; every statement is a transaction of its own, in one session."""
        asked = [argument for text in statements for argument in ("-c", text)]
        done = subprocess.run([self.millrace, "--data-dir", str(self.data), "psql", "--", "-qAtX", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c",
                               f"set millrace.tenant_id = '{TENANT}'", *asked], capture_output=True, text=True, env=self.environment)
        if done.returncode != 0:
            sys.exit(f"psql: {done.stderr[-800:]}")
        return [line.split("\t") for line in done.stdout.strip().splitlines()]

    def config(self, **values):
        for key, value in values.items():
            self.sql(f"select millrace.set_config_value('export.{key}', '{value}')")

    def token(self):
        done = subprocess.run([self.millrace, "--data-dir", str(self.data), "--tenant", TENANT, "token", "create", "--role", "authenticated", "--user", USER],
                              capture_output=True, text=True, env=self.environment, check=True)
        return done.stdout.strip().split()[-1]

    def stop(self, process):
        process.terminate()
        process.wait(60)
        self.running.remove(process)

    def close(self):
        for process in reversed(self.running):
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            process.wait(60)
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
