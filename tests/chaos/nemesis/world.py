"""World: one chaos run: its directory, its history, its processes, and the environments that were made in it.

    with World(build="build/release", history="path") as world: ...

    world.dir          a directory of its own under `parent` (default: the temporary one); short, since unix sockets lie in it; removed
                       at the end unless the run failed (an exception other than Ctrl-C) or keep=True
    world.history      History of the nemesis; world.history_dir is what processes get as MILLRACE_HISTORY
    world.processes    Processes (processes.py); world.guard ends everything should this process be killed
    world.build        where the programs are; world.program("millrace") is a path in it
    world.server_user  keyword arguments for subprocess that run a program as an unprivileged user when we are root, else {}

Environments call world.adopt(self) when they start; stop() ends them in the opposite order. stop() is safe twice.
"""
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

from .guard import Guard
from .history import History
from .processes import Processes


def unprivileged_user():
    """Servers refuse to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("servers cannot run as root, and there is neither a user \"postgres\" nor \"nobody\"")


class World:
    def __init__(self, build=None, history=None, keep=False, parent=None):
        root = pathlib.Path(__file__).resolve().parents[3]
        self.build = pathlib.Path(build or root / "build" / "release").resolve()
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="millrace-chaos-", dir=parent))
        os.chmod(self.dir, 0o755)
        self.history_dir = pathlib.Path(history or self.dir / "history").resolve()
        self.history = History(self.history_dir, "nemesis")
        self.keep = keep
        self.templates = {}  # postgres.py: data directories that new clusters are copied from.
        user = unprivileged_user()
        self.server_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
        self.guard = Guard()
        self.processes = Processes(self)
        self._environments = []

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None and not issubclass(kind, KeyboardInterrupt):
            self.keep = True
        self.stop()

    def program(self, name):
        return self.build / name

    def new_dir(self, name):
        """A directory that the servers' user owns."""
        path = self.dir / name
        path.mkdir(mode=0o700)
        if self.server_user:
            os.chown(path, self.server_user["user"], self.server_user["group"])
        return path

    def adopt(self, environment):
        if environment not in self._environments:
            self._environments.append(environment)

    def run(self, argv, as_server=False, check=True, env=None, **options):
        """Runs a short command to its end; stdout is returned, a failure raises with what it said."""
        done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=self.dir,
                              env=env or self.processes.environment(), **(self.server_user if as_server else {}), **options)
        if check and done.returncode != 0:
            raise RuntimeError(f"{pathlib.Path(str(argv[0])).name} ended with {done.returncode}: {(done.stderr or done.stdout).strip()}")
        return done.stdout if check else done

    def stop(self):
        while self._environments:
            self._environments.pop().stop()
        self.processes.end()
        self.guard.close()
        self.history.close()
        if self.keep:
            print(f"the run's files are kept in {self.dir}", flush=True)
        else:
            shutil.rmtree(self.dir, ignore_errors=True)
