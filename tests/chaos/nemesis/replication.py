"""Replication: a primary with a synchronous and an asynchronous standby, real streaming replication, and fail-over between them.

    cluster = Replication(world).start()             three servers; the synchronous standby must confirm every commit
    cluster.url()                                    all three hosts, target_session_attrs=read-write: clients find the primary
    cluster.primary, .sync, .asynchronous            Postgres; roles move with every fail-over
    cluster.hold_async(), .release_async()           lets the asynchronous standby fall behind (a gate before it stalls)
    result = cluster.fail_over("sync"|"async")       kill -9 of the whole primary, then promotion; returns when the new primary takes writes
    result = cluster.fail_over("async", keep_old_serving=1.0)
                                                     the standby is promoted while the old primary lives on for that many seconds
                                                     (nobody told it); then it is killed. Writes it acknowledged meanwhile are lost
    cluster.rejoin()                                 the old primary and what else cannot follow come back as standbys (pg_rewind, or a
                                                     new copy); roles are filled again; returns when the synchronous one streams
    cluster.report_losses(result)                    keys that were acknowledged to producers before, are missing now and were not reported
                                                     before; written into the history as "reported_loss" for the checker, and returned

A FailOver says what was lost, from the dead primary's own log: `switch_lsn` where the new timeline begins, `end_lsn` where the old log
ends, `lost_bytes` between them, `lost_commits` (their number; for "sync" these were never acknowledged), `lost_since` (history clock: commits
from here on can be lost) and `lag_ms` (from there to the kill); `accepts_at`, and `seconds` from the beginning until then.

Fence: the dead primary's directory is marked as a standby's at once, so that it can never again come up and take writes. Between
fail_over() and rejoin() commits wait for no standby: do not inject a second fail-over there.
"""
import collections
import datetime
import re
import threading
import time
import urllib.parse

from .gate import Gate
from .history import now_ns, read_all
from .postgres import PORT, USER, Postgres, binary
from .wire import ConnectionLost, ServerError

FailOver = collections.namedtuple("FailOver", "mode old new switch_lsn end_lsn lost_bytes lost_commits lost_since lag_ms accepts_at seconds")

STREAMING = {
    "wal_level": "replica", "max_wal_senders": 10, "wal_keep_size": "512MB", "hot_standby": "on", "wal_log_hints": "on",
    "wal_retrieve_retry_interval": "100ms", "wal_receiver_timeout": "5s", "wal_sender_timeout": "5s", "synchronous_standby_names": "",
}
_RECORD = re.compile(r"len \(rec/tot\): +\d+/ *(\d+).*?lsn: ([0-9A-F]+/[0-9A-F]+).*?desc: (COMMIT|COMMIT_PREPARED)?\b(?: (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+))?")


def wait_until(condition, timeout, what):
    """For states of a server that it tells only when asked."""
    deadline, pause, last = time.monotonic() + timeout, threading.Event(), None
    while True:
        try:
            if condition():
                return
        except (OSError, ServerError, ConnectionLost) as error:
            last = error  # Not up yet.
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited {timeout} s in vain: {what}" + (f" ({last})" if last else ""))
        pause.wait(0.02)


def lsn_number(text):
    high, low = text.split("/")
    return (int(high, 16) << 32) + int(low, 16)


class Node(Postgres):
    """One of the three servers."""

    def conninfo(self):
        return f"host={self.socket_dir} port={PORT} user={USER} dbname=postgres"

    def copy_from(self, primary):
        self.world.run(["rm", "-rf", self.data])
        if not self.home.exists():
            self.world.new_dir(self.home.name)
        self.world.run([binary("pg_basebackup"), "-D", self.data, "-d", primary.conninfo(), "--checkpoint=fast", "--no-sync"], as_server=True)
        self.world.adopt(self)

    def follow(self, host, port):
        self.write("standby.signal", "")
        self.configure(primary_conninfo=f"host={host} port={port} user={USER} application_name={self.name} sslmode=disable",
                       synchronous_standby_names="")

    def promote(self):
        if self.sql("select pg_promote(true, 60)", database="postgres") != "t":
            raise RuntimeError(f"{self.name} was not promoted:\n{self.log_text()[-2000:]}")

    def received_lsn(self):
        # The received position begins anew at the segment's start when the line was broken; what was replayed was received.
        return self.sql("select greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())", database="postgres")

    def timeline(self):
        return int(self.sql("select timeline_id from pg_control_checkpoint()", database="postgres"))

    def switch_point(self):
        """(timeline left, where) of the newest timeline, from its history file."""
        newest = max((self.data / "pg_wal").glob("*.history"))
        timeline, lsn = newest.read_text().strip().splitlines()[-1].split("\t")[:2]
        return int(timeline), lsn


class Replication:
    def __init__(self, world, name="rep", migrated=True):
        self.world, self.name = world, name
        self.nodes = [Node(world, f"{name}_{letter}", migrated=migrated, settings=STREAMING) for letter in "abc"]
        self.primary, self.sync, self.asynchronous = self.nodes
        self.gate = None
        self._to_rejoin = []
        self._reported = set()

    def start(self):
        self.world.adopt(self)
        self.primary.start()
        self.gate = Gate(self.world, self.primary.socket_path, name=f"{self.name}_lag").start()
        for node in (self.sync, self.asynchronous):
            node.copy_from(self.primary)
            self._follow_primary(node)
            node.launch()
        self._demand_sync()
        return self

    def stop(self):
        for node in self.nodes:
            node.stop()
        if self.gate:
            self.gate.stop()

    def url(self, user=USER, database="millrace"):
        hosts = ",".join(urllib.parse.quote(str(node.socket_dir), safe="") for node in self.nodes)
        ports = ",".join(str(PORT) for _ in self.nodes)
        return f"postgresql://{user}@/{database}?host={hosts}&port={ports}&target_session_attrs=read-write"

    def sql(self, text):
        return self.primary.sql(text)

    # Standbys and their roles.

    def _follow_primary(self, node):
        if node is self.asynchronous:
            node.follow(*self.gate.address)
        else:
            node.follow(self.primary.socket_dir, PORT)

    def _demand_sync(self):
        """From when it returns every commit is on two servers before it is acknowledged."""
        self.wait_for_streaming(self.sync)
        self.wait_for_streaming(self.asynchronous)
        self.primary.configure(synchronous_standby_names=f"FIRST 1 ({self.sync.name})")
        self.primary.reload()
        wait_until(lambda: self._standby(self.sync) == ["streaming", "sync"], 30, f"{self.sync.name} is the synchronous standby")

    def _standby(self, node):
        rows = self._ask(f"select state, sync_state from pg_stat_replication where application_name = '{node.name}'")
        return rows[0] if rows else None

    def _ask(self, text):
        with self.primary.connect(database="postgres") as client:
            return client.query(text)

    def wait_for_streaming(self, node, timeout=30):
        try:
            wait_until(lambda: (self._standby(node) or [""])[0] == "streaming", timeout, f"{node.name} streams from {self.primary.name}")
        except RuntimeError as error:
            raise RuntimeError(f"{error}\n{node.log_text()[-2000:]}") from error

    def hold_async(self):
        """What is committed from now on can be lost by fail_over("async")."""
        self.gate.stall()

    def release_async(self):
        self.gate.heal()

    def lag_bytes(self, node=None):
        node = node or self.asynchronous
        return lsn_number(self._ask("select pg_current_wal_flush_lsn()")[0][0]) - lsn_number(node.received_lsn())

    # Fail-over.

    def fail_over(self, to="sync", keep_old_serving=0.0):
        old, new = self.primary, {"sync": self.sync, "async": self.asynchronous}[to]
        other, = [node for node in self.nodes if node not in (old, new)]
        old_timeline = old.timeline()
        began = now_ns()
        if not keep_old_serving:
            self._fence(old)
        killed_at, killed_wall = now_ns(), time.time()
        self.gate.cut()  # What the gate still held is lost with the primary.
        new.promote()
        new.configure(synchronous_standby_names="", primary_conninfo="")
        new.reload()
        accepts_at = now_ns()
        self.primary = new
        if keep_old_serving:
            old.process.wait(keep_old_serving)  # It does not end: this is the time that it goes on.
            self._fence(old)
            killed_at, killed_wall = now_ns(), time.time()
        self.gate.upstream(new.socket_path)
        self.gate.heal()
        self._to_rejoin = [old, other]
        result = self._loss(to, old, new, old_timeline, began, killed_at, killed_wall, accepts_at)
        self.world.history.fault("failover", new.name, t=accepts_at, **{key: value for key, value in result._asdict().items() if key not in ("old", "new")},
                                 old=old.name, new=new.name, split=bool(keep_old_serving))
        return result

    def _fence(self, old):
        old.crash(children_too=True)
        old.write("standby.signal", "")

    def _loss(self, mode, old, new, old_timeline, began, killed_at, killed_wall, accepts_at):
        timeline, switch_lsn = new.switch_point()
        if timeline != old_timeline:
            raise RuntimeError(f"{new.name} left timeline {timeline}, not the primary's {old_timeline}")
        dump = self.world.run([binary("pg_waldump"), "-p", old.data / "pg_wal", "-t", str(old_timeline), "-s", switch_lsn], check=False).stdout
        end_lsn, commits = switch_lsn, []
        for line in dump.splitlines():
            found = _RECORD.search(line)
            if found and lsn_number(found[2]) >= lsn_number(switch_lsn):
                end = lsn_number(found[2]) + int(found[1])
                end_lsn = f"{end >> 32:X}/{end & 0xffffffff:X}"
                if found[3] and found[4]:
                    commits.append(datetime.datetime.fromisoformat(found[4]).replace(tzinfo=datetime.timezone.utc).timestamp())
        lag = max(0.0, killed_wall - min(commits)) if commits else 0.0
        return FailOver(mode=mode, old=old, new=new, switch_lsn=switch_lsn, end_lsn=end_lsn, lost_bytes=lsn_number(end_lsn) - lsn_number(switch_lsn),
                        lost_commits=len(commits), lost_since=killed_at - int(lag * 1e9), lag_ms=round(lag * 1000, 1), accepts_at=accepts_at,
                        seconds=round((accepts_at - began) / 1e9, 3))

    def rejoin(self):
        """Returns how each came back: {name: "follows" | "rewound" | "copied"}."""
        if not self._to_rejoin:
            return {}
        old, other = self._to_rejoin
        self.sync, self.asynchronous = other, old
        self.primary.sql("checkpoint", database="postgres")  # pg_rewind reads the new timeline from the control file.
        how = {node.name: self._bring_back(node) for node in (other, old)}
        self._demand_sync()
        self._to_rejoin = []
        self.world.history.fault("heal", self.primary.name, standbys=how)
        return how

    def _bring_back(self, node):
        if node.alive:
            if lsn_number(node.received_lsn()) <= lsn_number(self.primary.switch_point()[1]):
                self._follow_primary(node)
                node.reload()
                self.wait_for_streaming(node)
                return "follows"
            node.stop_fast()
        (node.data / "standby.signal").unlink(missing_ok=True)  # pg_rewind first finishes the crashed log, which no standby may do.
        rewound = self.world.run([binary("pg_rewind"), "-D", node.data, "--source-server", self.primary.conninfo(), "--no-sync"],
                                 as_server=True, check=False)
        how = "rewound" if rewound.returncode == 0 else "copied"
        if how == "copied":
            node.copy_from(self.primary)
        self._follow_primary(node)
        node.launch()
        self.wait_for_streaming(node)
        return how

    # What was lost.

    def report_losses(self, result, history_dir=None):
        """Every enqueue that a producer was told to be done before the old primary died, and that the new one does not know."""
        acknowledged = {}
        for line in read_all(history_dir or self.world.history_dir, "producer-*.jsonl"):
            if line["op"] == "enqueue" and line.get("ph") == "ok" and line["t"] <= result.lost_since + int(result.lag_ms * 1e6) + 1_000_000_000:
                acknowledged |= {job["key"]: (line["t"], job["job"]) for job in line["jobs"]}
        with self.primary.connect(timeout=60) as client:
            known = {row[0] for row in client.query("select job_id from millrace.job_fact")}
        lost = {key: (t, job) for key, (t, job) in acknowledged.items() if job not in known and job not in self._reported}
        self._reported.update(job for _, job in lost.values())
        outside = sorted(key for key, (t, _) in lost.items() if t < result.lost_since)
        self.world.history.fault("reported_loss", result.new.name, mode=result.mode, keys=sorted(lost), jobs=sorted(job for _, job in lost.values()),
                                 lag_ms=result.lag_ms, outside_lag=outside)
        return {"keys": sorted(lost), "jobs": sorted(job for _, job in lost.values()), "outside_lag": outside}
