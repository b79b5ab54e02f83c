"""Processes: named programs of a run that are started, killed, paused and waited for.

    p = world.processes.start("worker-1", [program, ...], env={...}, ready_file=path)    log in <world>/worker-1.log, appended
    p.kill()                    kill -9 and wait until it is gone; logged as "kill"
    p.stop(), p.cont()          SIGSTOP (returns when it really stands still), SIGCONT; logged as "stop", "cont"
    p.zombie(seconds)           stop, wait that long, cont: longer than the lease, and it wakes as a stale owner
    p.terminate(timeout)        SIGTERM and wait: the graceful end; returns the exit code, None when it did not end in time
    p.wait(timeout)             exit code or None; p.alive, p.pid, p.log_text()
    p.restart()                 the same command again under the same name (after its end)
    p.tree()                    process numbers of it and everything below it; kill(tree=True) takes them all at once
    world.processes["worker-1"], .all(), .end() (kills all; safe twice)

Every wait is on a pidfd, inotify or waitid; nothing sleeps and looks again. Programs get the environment of the caller without DATABASE_URL
and MILLRACE_*, plus MILLRACE_HISTORY. Each leads a session of its own, so that Ctrl-C reaches the run only, which then ends them.
"""
import ctypes
import os
import pathlib
import select
import signal
import socket
import subprocess
import threading
import time

from .guard import descendants

IN_CLOSE_WRITE, IN_MOVED_TO, IN_CREATE = 0x8, 0x80, 0x100
_libc = ctypes.CDLL(None, use_errno=True)


def seconds_left(deadline):
    return max(0.0, deadline - time.monotonic())


def wait_gone(pidfds, timeout):
    """Waits until all these processes have ended; False when time ran out first. Closes the descriptors."""
    deadline = time.monotonic() + timeout
    waiting = set(pidfds)
    poll = select.poll()
    for fd in waiting:
        poll.register(fd, select.POLLIN)
    while waiting:
        ready = poll.poll(seconds_left(deadline) * 1000)
        if not ready:
            break
        for fd, _ in ready:
            poll.unregister(fd)
            waiting.discard(fd)
    for fd in pidfds:
        os.close(fd)
    return not waiting


def readable(seconds, *descriptors):
    """Those that can be read from, or whose process has ended; waits so long for one of them. poll(), because select() knows no number above 1023."""
    poll = select.poll()
    for fd in descriptors:
        poll.register(fd, select.POLLIN)
    return [fd for fd, _ in poll.poll(None if seconds is None else max(0, seconds) * 1000)]


def open_pidfd(pid):
    """None when the process is gone already."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


class FileWatch:
    """Waits for a file to appear whole in a directory. Made before the file can: no appearance is missed."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self._fd = _libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        mask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE
        if self._fd < 0 or _libc.inotify_add_watch(self._fd, os.fsencode(self.path.parent), mask) < 0:
            raise OSError(ctypes.get_errno(), "inotify", str(self.path.parent))

    def wait(self, pidfd, timeout):
        """True when it is there; False when the process has ended or time has run out first."""
        deadline = time.monotonic() + timeout
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        poll.register(pidfd, select.POLLIN)
        while not (self.path.exists() and self.path.stat().st_size > 0):
            ready = dict(poll.poll(seconds_left(deadline) * 1000))
            if not ready or pidfd in ready:
                return False
            os.read(self._fd, 65536)
        return True

    def close(self):
        os.close(self._fd)


class NotifySocket:
    """Where a server that speaks systemd's protocol says that it is ready: the exact moment, without asking again and again."""

    def __init__(self, path):
        self.path = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self._socket.bind(self.path)
        os.chmod(self.path, 0o777)
        self._socket.setblocking(False)

    def drain(self):
        while readable(0, self._socket.fileno()):
            self._socket.recv(4096)

    def wait_ready(self, pidfd, timeout):
        """True at READY=1; False when the process has ended or time has run out first."""
        deadline = time.monotonic() + timeout
        while True:
            ready = readable(seconds_left(deadline), self._socket.fileno(), pidfd)
            if self._socket.fileno() in ready:
                if b"READY=1" in self._socket.recv(4096).split(b"\n"):
                    return True
            elif pidfd in ready or time.monotonic() >= deadline:
                return False

    def close(self):
        self._socket.close()
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            pass


class Process:
    def __init__(self, owner, name, argv, options):
        self._owner, self.name, self.argv, self._options = owner, name, argv, options
        self._lock = threading.Lock()
        self.log = owner.world.dir / f"{name}.log"
        self.pidfd = -1
        self.starts = 0
        self._launch()

    def _launch(self):
        options = dict(self._options)
        ready_file, ready_timeout = options.pop("ready_file"), options.pop("ready_timeout")
        env = self._owner.environment(options.pop("env"))
        watch = None
        if ready_file:
            pathlib.Path(ready_file).unlink(missing_ok=True)
            watch = FileWatch(ready_file)
        with open(self.log, "ab") as log:
            self.popen = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, start_new_session=True, **options)
        self.pid = self.popen.pid
        self._owner.world.guard.watch("process", self.pid)
        if self.pidfd >= 0:
            os.close(self.pidfd)
        self.pidfd = os.pidfd_open(self.pid)
        self.starts += 1
        if watch:
            good = watch.wait(self.pidfd, ready_timeout)
            watch.close()
            if not good:
                self.popen.kill()
                self.wait()
                raise RuntimeError(f"{self.name} did not become ready:\n{self.log_text()[-3000:]}")

    @property
    def alive(self):
        return not self.ended_within(0)

    def ended_within(self, seconds):
        """Waits so long for its end, for ever when None; True when it has ended."""
        return self.popen.returncode is not None or bool(readable(seconds, self.pidfd))

    def wait(self, timeout=None):
        if self.popen.returncode is None:
            if not self.ended_within(timeout):
                return None
            with self._lock:
                if self.popen.returncode is None:
                    self.popen.wait()
                    self._owner.world.guard.forget("process", self.pid)
                    # A run has thousands of processes: none keeps a descriptor after its end.
                    os.close(self.pidfd)
                    self.pidfd = -1
        return self.popen.returncode

    def signal(self, number):
        """False when it has ended already."""
        if self.popen.returncode is not None:
            return False
        try:
            signal.pidfd_send_signal(self.pidfd, number)
            return True
        except ProcessLookupError:
            return False

    def tree(self):
        return [self.pid] + descendants(self.pid)

    def kill(self, tree=False):
        self._owner.world.history.fault("kill", self.name, pid=self.pid)
        self._kill(tree)

    def _kill(self, tree):
        others = []
        if tree and self.signal(signal.SIGSTOP):  # So that it cannot make another one meanwhile.
            others = [fd for fd in map(open_pidfd, descendants(self.pid)) if fd is not None]
        self.signal(signal.SIGKILL)
        for fd in others:
            try:
                signal.pidfd_send_signal(fd, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.wait()
        wait_gone(others, 10)

    def stop(self):
        self._owner.world.history.fault("stop", self.name, pid=self.pid)
        if self.signal(signal.SIGSTOP) and self.popen.returncode is None:
            # Returns when the last thread stands still, or at the process's end, which is left for wait().
            os.waitid(os.P_PIDFD, self.pidfd, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def cont(self):
        self._owner.world.history.fault("cont", self.name, pid=self.pid)
        self.signal(signal.SIGCONT)

    def zombie(self, seconds):
        """True when it lived through it."""
        self.stop()
        ended = self.ended_within(seconds)
        self.cont()
        return not ended

    def terminate(self, timeout=60):
        self._owner.world.history.fault("terminate", self.name, pid=self.pid)
        self.signal(signal.SIGTERM)
        return self.wait(timeout)

    def restart(self):
        if self.alive:
            raise RuntimeError(f"{self.name} still runs")
        self.wait()
        self._launch()
        self._owner.world.history.fault("start", self.name, pid=self.pid)
        return self

    def log_text(self):
        return self.log.read_text(errors="replace")

    def end(self):
        if self.popen.returncode is None:
            self._kill(tree=True)


class Processes:
    def __init__(self, world):
        self.world = world
        self._by_name = {}

    def environment(self, extra=None):
        env = {k: v for k, v in os.environ.items() if k != "DATABASE_URL" and not k.startswith(("MILLRACE_", "PG"))}
        env["MILLRACE_HISTORY"] = str(self.world.history_dir)
        env.update({k: str(v) for k, v in (extra or {}).items()})
        return env

    def start(self, name, argv, env=None, cwd=None, ready_file=None, ready_timeout=60, **options):
        known = self._by_name.get(name)
        if known is not None:
            if known.alive:
                raise RuntimeError(f"there is a process {name} already")
            known.wait()
        options |= {"env": env, "cwd": cwd or self.world.dir, "ready_file": ready_file, "ready_timeout": ready_timeout}
        self._by_name[name] = Process(self, name, [str(word) for word in argv], options)
        return self._by_name[name]

    def __getitem__(self, name):
        return self._by_name[name]

    def all(self):
        return list(self._by_name.values())

    def end(self):
        for process in reversed(self.all()):
            process.end()
