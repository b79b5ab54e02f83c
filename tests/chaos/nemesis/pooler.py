"""Pooler: PgBouncer in transaction mode before a server.

    pooler = Pooler(world, database).start()       its own unix socket; database: Postgres, or anything with socket_dir (Gate(unix=True))
    pooler.url()                                   for clients
    pooler.kill(), .restart()                      kill -9: all clients' lines end; restart() waits until it takes connections
    pooler.stop_gently()                           SIGINT: waits for running transactions, then ends
    pooler.pause_servers(), .resume_servers()      PAUSE and RESUME: clients wait meanwhile
    pooler.console("show pools")                   rows of the admin console
    pooler.log_text(), .alive

Debian's 1.18 does not know protocol-level prepared statements. Faults written: kill, pool_up, pool_stop, pool_pause, pool_resume.
"""
import os
import shutil
import signal
import urllib.parse

from .history import now_ns
from .postgres import USER, Up
from .processes import NotifySocket
from .wire import Client

PORT = 6543


class Pooler:
    def __init__(self, world, database, name="pooler", pool_size=8, settings=None):
        self.world, self.database, self.name = world, database, name
        self.home = world.dir / name
        self.process = None
        self._pool_size, self._settings = pool_size, settings or {}
        self._notify = None

    @property
    def socket_path(self):
        return str(self.home / f".s.PGSQL.{PORT}")

    @property
    def alive(self):
        return self.process is not None and self.process.alive

    def url(self, user=USER, database="millrace"):
        return f"postgresql://{user}@/{database}?host={urllib.parse.quote(str(self.home), safe='')}&port={PORT}"

    def connect(self, timeout=10):
        return Client(self.socket_path, timeout=timeout)

    def console(self, text):
        with Client(self.socket_path, database="pgbouncer", timeout=60) as client:
            return client.query(text)

    def log_text(self):
        return self.process.log_text()

    def start(self):
        self.world.adopt(self)
        self.world.new_dir(self.home.name)
        self._configure()
        self._notify = NotifySocket(self.world.dir / f"{self.name}.notify")
        self._launch()
        return self

    def _configure(self):
        settings = {"listen_addr": "", "unix_socket_dir": self.home, "listen_port": PORT, "auth_type": "any", "pool_mode": "transaction",
                    "max_client_conn": 500, "admin_users": USER,
                    # After a failed login the pooler refuses everybody for this long; its default of 15 s would hide the engine's own recovery.
                    "server_login_retry": 1, **self._settings}
        text = "[databases]\n" + f"millrace = host={self.database.socket_dir} port=5432 dbname=millrace user={USER} pool_size={self._pool_size}\n"
        text += "[pgbouncer]\n" + "".join(f"{key} = {value}\n" for key, value in settings.items())
        path = self.home / "pgbouncer.ini"
        path.write_text(text)
        if self.world.server_user:
            os.chown(path, self.world.server_user["user"], self.world.server_user["group"])

    def _launch(self):
        began = now_ns()
        self._notify.drain()
        program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
        self.process = self.world.processes.start(f"{self.name}.pgbouncer", [program, self.home / "pgbouncer.ini"],
                                                  env={"NOTIFY_SOCKET": self._notify.path}, **self.world.server_user)
        if not self._notify.wait_ready(self.process.pidfd, 30):
            raise RuntimeError(f"pgbouncer did not come up:\n{self.log_text()[-2000:]}")
        accepts_at = now_ns()
        return Up((accepts_at - began) / 1e9, accepts_at)

    def restart(self):
        if self.alive:
            raise RuntimeError(f"{self.name} still runs")
        up = self._launch()
        self.world.history.fault("pool_up", self.name, t=up.accepts_at, seconds=round(up.seconds, 3))
        return up

    def kill(self):
        self.process.kill()

    def stop_gently(self, timeout=60):
        self.world.history.fault("pool_stop", self.name)
        self.process.signal(signal.SIGINT)
        return self.process.wait(timeout)

    def pause_servers(self):
        self.world.history.fault("pool_pause", self.name)
        self.console("pause")  # Returns when running transactions have ended.

    def resume_servers(self):
        self.console("resume")
        self.world.history.fault("pool_resume", self.name)

    def stop(self):
        if self.process:
            self.process.end()
        if self._notify:
            self._notify.close()
            self._notify = None
