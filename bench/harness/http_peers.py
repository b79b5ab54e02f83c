"""Job services as one writes them with Fastify and with FastAPI: installed at run time, started in front of the same PostgreSQL, and asked by the
same load generator as Millrace."""

import base64
import contextlib
import hashlib
import hmac
import json
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from .server import Failed, run

HERE = pathlib.Path(__file__).resolve().parent.parent / "peers/http"
DATABASE = "bench_http"
TITLES = {"fastify": "Fastify + pg", "fastapi": "FastAPI + asyncpg"}
START_SECONDS = 30


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def make_token(secret, now=None):
    """An HS256 token like those of `millrace token create --role service_role`."""
    issued = int(time.time() if now is None else now)
    claims = {"iss": "millrace", "role": "service_role", "iat": issued, "exp": issued + 86_400, "jti": secrets.token_hex(16)}
    head = base64url(json.dumps({"alg": "HS256", "typ": "JWT"}).encode()) + "." + base64url(json.dumps(claims).encode())
    return head + "." + base64url(hmac.new(secret.encode(), head.encode(), hashlib.sha256).digest())


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class HttpPeers:
    def __init__(self, server, folder, node):
        self.server = server
        self.folder = pathlib.Path(folder).resolve() / "peers/http"
        self.venv = pathlib.Path(folder).resolve() / "python"
        self.node = node
        self.workers = os.cpu_count() or 1
        self.secret = secrets.token_hex(32)
        self.token = make_token(self.secret)
        self.versions = {}
        self.missing = {}  # Peer -> why it could not be measured.

    def install(self, tell):
        self.folder.mkdir(parents=True, exist_ok=True)
        for file in HERE.glob("*"):
            if file.is_file():
                shutil.copy(file, self.folder / file.name)
        for peer, how in (("fastify", self._install_npm), ("fastapi", self._install_python)):
            try:
                how(tell)
            except (Failed, OSError) as error:
                self.missing[peer] = str(error)
                tell(f"{TITLES[peer]} is not measured: {error}")

    def _install_npm(self, tell):
        if self.node is None:
            raise Failed("npm could not install Node")
        wanted = json.loads((HERE / "package.json").read_text())["dependencies"]

        def installed(name):
            file = self.folder / "node_modules" / name / "package.json"
            return json.loads(file.read_text())["version"] if file.exists() else None

        if any(installed(name) != version for name, version in wanted.items()):
            tell("installing fastify and pg with npm")
            run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], cwd=self.folder)
        self.versions.update({name: installed(name) for name in ("fastify", "fast-jwt", "pg")})

    def _install_python(self, tell):
        marker = self.venv / "requirements.txt"
        wanted = (HERE / "requirements.txt").read_text()
        if not marker.exists() or marker.read_text() != wanted:
            tell("installing fastapi, uvicorn and asyncpg with pip")
            try:
                run(["python3", "-m", "venv", "--clear", self.venv])
                run([self.venv / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", HERE / "requirements.txt"])
            except Failed as error:
                raise Failed(f"pip or venv is not there, or the Python registry was not reached: {str(error)[-200:]}") from None
            marker.write_text(wanted)
        for line in wanted.split():
            name, version = line.split("==")
            self.versions[name] = version

    def has(self, peer):
        return peer not in self.missing

    def prepare(self, jobs):
        """The table of a queue as one writes it by hand, with so many jobs, half of them done; a file with their ids."""
        self.server.fresh(DATABASE)
        self.server.script(HERE / "jobs.sql", DATABASE)
        self.server.sql(
            "insert into jobs (queue, job_type, payload, status, attempts, progress, worker_id, started_at, finished_at) "
            "select 'bench', 'bench', jsonb_build_object('number', i, 'fill', repeat('x', 80)), v.status, v.done, v.done * 100, "
            "case v.done when 1 then 'w1' end, case v.done when 1 then now() end, case v.done when 1 then now() end "
            f"from generate_series(1, {jobs}) i cross join lateral (select i % 2 as done, "
            "case i % 2 when 1 then 'completed' else 'pending' end as status) v",
            DATABASE,
        )
        self.server.sql("vacuum analyze jobs", DATABASE)
        ids = self.folder / "ids.txt"
        ids.write_text(self.server.sql("select id from jobs order by random()", DATABASE) + "\n")
        return ids

    def clean(self):
        self.server.drop(DATABASE)

    @contextlib.contextmanager
    def running(self, peer, url, schema, ids):
        """A server of this peer in front of this database; its address. `schema`: whose tables it asks."""
        spec = {"url": url, "secret": self.secret, "schema": schema, "workers": self.workers}
        process, address = self._start_fastify(spec) if peer == "fastify" else self._start_fastapi(spec)
        try:
            self._await_answer(process, f"{address}/api/v1/jobs/{ids.read_text()[:36]}")
            yield address
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _start_fastify(self, spec):
        log = open(self.folder / "fastify.log", "w")
        process = subprocess.Popen(
            [str(self.node), "fastify.mjs", json.dumps(spec)], cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
        )
        line = process.stdout.readline()
        if not line:
            process.wait()
            raise Failed(f"Fastify did not start: {(self.folder / 'fastify.log').read_text()[-600:]}")
        return process, f"http://127.0.0.1:{json.loads(line)['port']}"

    def _start_fastapi(self, spec):
        log = open(self.folder / "fastapi.log", "w")
        port = free_port()
        argv = [self.venv / "bin/python", "-m", "uvicorn", "fastapi_app:app", "--host", "127.0.0.1", "--port", port, "--workers", self.workers]
        argv += ["--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "warning"]
        environment = {**os.environ, "PEER": json.dumps(spec)}
        process = subprocess.Popen([str(word) for word in argv], cwd=self.folder, stdout=log, stderr=log, env=environment, start_new_session=True)
        return process, f"http://127.0.0.1:{port}"

    def _await_answer(self, process, url):
        end = time.monotonic() + START_SECONDS
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {self.token}"})
        while True:
            try:
                urllib.request.urlopen(request, timeout=5).read()
                time.sleep(1)  # The others of its processes may need a moment more.
                return
            except urllib.error.HTTPError as error:
                raise Failed(f"the peer answered {error.code}: {error.read()[:300]}") from None
            except OSError as error:
                if process.poll() is not None or time.monotonic() > end:
                    raise Failed(f"the peer did not start: {error}; see {self.folder}") from None
            time.sleep(0.05)
