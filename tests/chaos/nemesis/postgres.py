"""Postgres: a cluster outside the product, durable as in production, that crashes and comes back on command.

    database = Postgres(world, name="db").start()      initdb, schema by `millrace migrate up`, started; migrated=False: an empty database
    database.url(), .socket_path, .socket_dir          unix socket only; trust, in a directory that only the server's user may enter
    database.crash()                                   kill -9 of the postmaster; its children notice and end by themselves; returns when
                                                       all are gone. children_too=True: all of them in one instant, as a machine dies
    database.stop_immediate(), .stop_fast()            SIGQUIT, SIGINT to the postmaster, and wait
    up = database.restart()                            starts it; `up.seconds` it took, `up.accepts_at` (history clock) it took connections
    database.wait_ready()                              for a server that restarts itself after a child's crash
    database.terminate_backends()                      pg_terminate_backend of all other client connections
    database.sql(text), .number(text), .connect()      connect(): wire.Client
    database.log_text(), .alive, .pid

Faults written: pg_crash, pg_stop, pg_up (with accepts_at and seconds). A second cluster of the same kind in one world is a copy of the first:
initdb and migration run once.
"""
import collections
import os
import pathlib
import shutil
import signal
import urllib.parse

from .guard import children
from .history import now_ns
from .processes import NotifySocket, open_pidfd, wait_gone
from .wire import Client

Up = collections.namedtuple("Up", "seconds accepts_at")

DURABLE = {
    "listen_addresses": "", "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "restart_after_crash": "on",
    "max_connections": 200, "shared_buffers": "64MB", "dynamic_shared_memory_type": "mmap", "timezone": "UTC", "log_timezone": "UTC",
    # After a crash one sync of the volume instead of an fsync for each of 1 600 files: 0.2 s instead of 5 s until connections are taken.
    "recovery_init_sync_method": "syncfs",
    "log_line_prefix": "%m [%p] %q%u@%d ", "log_checkpoints": "off", "autovacuum_naptime": "5s",
}
USER = "millrace"
PORT = 5432


def binary(name):
    """PostgreSQL's programs lie outside PATH on Debian."""
    for folder in sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -int(path.parent.name)):
        if (folder / name).exists():
            return folder / name
    found = shutil.which(name)
    if not found:
        raise RuntimeError(f"PostgreSQL's {name} is not installed")
    return pathlib.Path(found)


def quote_setting(value):
    return "'" + str(value).replace("'", "''") + "'"


class Postgres:
    def __init__(self, world, name="db", migrated=True, settings=None, home=None, wal_segment_mb=None, env=None):
        self.world, self.name, self.migrated = world, name, migrated
        self.settings = DURABLE | (settings or {})
        self.home = pathlib.Path(home) if home else world.dir / name
        self.data = self.home / "data"
        self.socket_dir = self.home
        self.process = None
        self._wal_segment_mb = wal_segment_mb
        self._env = env or {}  # Of the server: a clock of its own.
        self._notify = None

    # Where it is.

    @property
    def socket_path(self):
        return str(self.socket_dir / f".s.PGSQL.{PORT}")

    def url(self, user=USER, database="millrace"):
        return f"postgresql://{user}@/{database}?host={urllib.parse.quote(str(self.socket_dir), safe='')}&port={PORT}"

    @property
    def pid(self):
        return self.process.pid

    @property
    def alive(self):
        return self.process is not None and self.process.alive

    def log_text(self):
        return self.process.log_text()

    # Asking it.

    def connect(self, user=USER, database="millrace", timeout=10, **parameters):
        return Client(self.socket_path, user, database, timeout, **parameters)

    def sql(self, text, database="millrace"):
        """The first value of the last statement."""
        with self.connect(database=database, timeout=60) as client:
            return client.value(text)

    def number(self, text):
        return int(self.sql(text) or 0)

    # Coming up.

    def start(self):
        self.world.adopt(self)
        if not self.data.exists():
            self._create()
        self.launch()
        return self

    def _create(self):
        if not self.home.exists():
            self.world.new_dir(self.home.name)
        template = self._template()
        self.world.run(["cp", "-a", template, self.data])
        self.configure()

    def _template(self):
        """A stopped data directory with the schema in it, made once per world."""
        key = (self.migrated, self._wal_segment_mb)
        if key not in self.world.templates:
            made = TemplateMaker(self.world, "template" + "".join(str(part) for part in key if part), self.migrated, self._wal_segment_mb)
            self.world.templates[key] = made.make()
        return self.world.templates[key]

    def configure(self, **changes):
        """Writes the settings; a running server reads most of them at reload()."""
        self.settings |= changes
        text = "".join(f"{key} = {quote_setting(value)}\n" for key, value in self.settings.items())
        self.write("nemesis.conf", text + f"unix_socket_directories = {quote_setting(self.socket_dir)}\nport = {PORT}\n")
        main = self.data / "postgresql.conf"
        if "nemesis.conf" not in main.read_text():
            with open(main, "a") as file:
                file.write("\ninclude 'nemesis.conf'\n")

    def write(self, name, text):
        """A file in the data directory that the server's user owns."""
        path = self.data / name
        path.write_text(text)
        if self.world.server_user:
            os.chown(path, self.world.server_user["user"], self.world.server_user["group"])

    def reload(self):
        self.process.signal(signal.SIGHUP)

    def launch(self, timeout=60):
        began = now_ns()
        if self._notify is None:
            self._notify = NotifySocket(self.world.dir / f"{self.name}.notify")
        self._notify.drain()
        self.process = self.world.processes.start(f"{self.name}.postgres", [binary("postgres"), "-D", self.data],
                                                  env=self._env | {"NOTIFY_SOCKET": self._notify.path}, **self.world.server_user)
        self.wait_ready(timeout)
        accepts_at = now_ns()
        seconds = (accepts_at - began) / 1e9
        self.world.history.fault("pg_up", self.name, t=accepts_at, accepts_at=accepts_at, seconds=round(seconds, 3))
        return Up(seconds, accepts_at)

    def wait_ready(self, timeout=60):
        """Debian's PostgreSQL says so by itself; a connection proves it."""
        if not self._notify.wait_ready(self.process.pidfd, timeout):
            raise RuntimeError(f"{self.name} did not come up:\n{self.log_text()[-3000:]}")
        self.connect(database="postgres").close()

    def restart(self):
        if self.alive:
            raise RuntimeError(f"{self.name} still runs")
        return self.launch()

    # Going down.

    def crash(self, children_too=False):
        self.world.history.fault("pg_crash", self.name, how="machine" if children_too else "postmaster")
        self.process.signal(signal.SIGSTOP)  # So that it starts no child that we do not see.
        below = [fd for fd in map(open_pidfd, children(self.pid)) if fd is not None]
        self.process.signal(signal.SIGKILL)
        if children_too:
            kill_all(below)
        self.process.wait()
        if not self._wait_for_children(below):
            raise RuntimeError(f"children of {self.name} outlived it")

    def _wait_for_children(self, below):
        """A backend in the middle of a long statement notices late; nobody waits for it for ever."""
        if select_gone(below, 5):
            return wait_gone(below, 0)
        kill_all(below)
        return wait_gone(below, 10)

    def stop_immediate(self):
        self.world.history.fault("pg_stop", self.name, how="immediate")
        self._end(signal.SIGQUIT)

    def stop_fast(self):
        self.world.history.fault("pg_stop", self.name, how="fast")
        self._end(signal.SIGINT)

    def _end(self, number):
        self.process.signal(number)
        if self.process.wait(60) is None:
            raise RuntimeError(f"{self.name} did not stop:\n{self.log_text()[-3000:]}")

    def terminate_backends(self):
        self.world.history.fault("terminate_backends", self.name)
        return self.number("select count(pg_terminate_backend(pid)) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()")

    def stop(self):
        """The end of the environment, not a fault."""
        if self.alive:
            self.process.signal(signal.SIGCONT)
            self.process.signal(signal.SIGQUIT)
            if self.process.wait(10) is None:
                self.process.end()
        if self._notify:
            self._notify.close()
            self._notify = None


def kill_all(pidfds):
    for fd in pidfds:
        try:
            signal.pidfd_send_signal(fd, signal.SIGKILL)
        except ProcessLookupError:
            pass


def select_gone(pidfds, timeout):
    """As wait_gone(), but leaves the descriptors open."""
    return wait_gone([os.dup(fd) for fd in pidfds], timeout)


class TemplateMaker:
    """initdb, the database, the schema; durability is not needed for what is made again each time."""

    def __init__(self, world, name, migrated, wal_segment_mb):
        self._world, self._name, self._migrated, self._wal_segment_mb = world, name, migrated, wal_segment_mb

    def make(self):
        database = Postgres(self._world, self._name, settings={"fsync": "off", "full_page_writes": "off"})
        database.home = self._world.new_dir(self._name)
        argv = [binary("initdb"), "--pgdata", database.data, "--username", USER, "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8",
                "--no-sync", "--no-instructions"]
        self._world.run(argv + (["--wal-segsize", self._wal_segment_mb] if self._wal_segment_mb else []), as_server=True)
        database.configure()
        database.start()
        database.sql("create database millrace", database="postgres")
        if self._migrated:
            self._world.run([self._world.program("millrace"), "migrate", "up", "--database-url", database.url()])
        database.stop_fast()
        for name in ("postmaster.pid", "postmaster.opts", "nemesis.conf"):
            (database.data / name).unlink(missing_ok=True)
        return database.data
