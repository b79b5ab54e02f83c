"""Gate: stands between clients and PostgreSQL and breaks the line on command. A process of its own.

    gate = Gate(world, database.socket_path).start()    listens on a free port of the loopback interface, or with unix=True on a socket
    gate.url()                                          for clients; sslmode=disable (the gate answers N to requests for encryption)

    gate.stall() … heal()       nothing passes, both ways; new connections wait too. heal() passes on what was held
    gate.delay(ms) … heal()     every piece waits that long, both ways
    gate.half_open(new="pass")  the lines there are go dead: nothing is read, written, acknowledged or closed, on TCP not even by the
                                kernel, which drops their packets; they stay dead. new="drop": new connections meet the same until heal()
    gate.cut(), gate.reset()    ends all lines now, in order (FIN) or with RST; new ones are welcome
    gate.refuse() … heal()      ends all lines and answers new connections with RST
    gate.cut_commit("after", match=regex, skip=0, count=1, how="reset")
        "after":  the server has committed and said so; its answer stops here, and the client's line is reset. Durable, and unknown
        "before": everything but the message that commits was passed on; the server rolls back, and the client's line is reset
        how: reset, cut, or silent (the line goes half-open instead). match is searched in all SQL texts of the transaction
    gate.disarm()               forgets cut_commit()
    gate.heal()                 ends stall, delay, refuse and new="drop"; what is half-open stays so
    gate.wait_for_commit_cuts(n)  returns when that many commits were cut since the gate started
    gate.counts()               connections, open, commits, cuts by kind, bytes each way …
    gate.upstream(socket_path)  where new connections go from now on

A unix listener has no packets to drop and no RST: half_open() and reset() then only stop reading, or close with data unread.
"""
import argparse
import asyncio
import ctypes
import os
import re
import socket
import struct
import urllib.parse

from .conversation import Conversation
from .history import History
from .service import Service, serve

SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27


class Gate(Service):
    module = "nemesis.gate"

    def __init__(self, world, upstream, name="gate", unix=False):
        super().__init__(world, name)
        self._upstream, self._unix = str(upstream), unix
        self.address = None

    def start(self):
        arguments = ["--upstream", self._upstream, "--name", self.name]
        if self._unix:
            home = self.world.new_dir(self.name)
            arguments += ["--unix", home / ".s.PGSQL.5432"]
        hello = self.launch(arguments)
        self.address = str(home / ".s.PGSQL.5432") if self._unix else ("127.0.0.1", hello["port"])
        return self

    @property
    def host_and_port(self):
        """As a URL's parameters want them."""
        return (os.path.dirname(self.address), 5432) if self._unix else self.address

    def url(self, user="millrace", database="millrace"):
        host, port = self.host_and_port
        return f"postgresql://{user}@/{database}?host={urllib.parse.quote(host, safe='')}&port={port}&sslmode=disable"

    def stall(self):
        self.call("stall")

    def delay(self, ms):
        self.call("delay", ms=ms)

    def half_open(self, new="pass"):
        return self.call("half_open", new=new)

    def cut(self):
        return self.call("cut")

    def reset(self):
        return self.call("reset")

    def refuse(self):
        return self.call("refuse")

    def heal(self):
        self.call("heal")

    def cut_commit(self, point="after", match=None, skip=0, count=1, how="reset"):
        self.call("cut_commit", point=point, match=match, skip=skip, count=count, how=how)

    def disarm(self):
        self.call("disarm")

    def wait_for_commit_cuts(self, count, timeout=30):
        return self.call("wait_for_commit_cuts", timeout=timeout, count=count)

    def counts(self):
        return self.call("counts")

    def upstream(self, path):
        self.call("upstream", path=str(path))


def drop_packets(sock, on):
    """A filter that takes no packet: the kernel then answers the peer nothing, as if the cable were out."""
    if sock.family != socket.AF_INET:
        return
    if not on:
        sock.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
        return
    program = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0), 8)  # Return 0: keep nothing.
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(program)))


def close_watched(sock):
    """The loop forgets the descriptor first: its number may be another connection's in a moment."""
    if sock.fileno() >= 0:
        loop = asyncio.get_running_loop()
        loop.remove_reader(sock.fileno())
        loop.remove_writer(sock.fileno())
        sock.close()


class Trigger:
    """An armed cut_commit()."""

    def __init__(self, point, match, skip, count, how):
        if point not in ("after", "before") or how not in ("reset", "cut", "silent"):
            raise ValueError(f"cut_commit({point!r}, how={how!r})")
        self.point, self.how = point, how
        self.match = re.compile(match, re.I | re.S) if match else None
        self.skip, self.left = skip, count

    def fires(self, sql):
        if self.left == 0 or (self.match and not self.match.search(";\n".join(sql))):
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.left -= 1
        return True


class Line:
    """One client's connection and ours to the server."""

    def __init__(self, client):
        self.client, self.server = client, None
        self.talk = Conversation()
        self.held = []      # Answers of the unit that may be cut.
        self.dead = False   # Half-open: its pumps have stopped for good.
        self.tasks = []

    def close(self, reset=False):
        for task in self.tasks:
            if task is not asyncio.current_task():
                task.cancel()
        if reset:
            self.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        close_watched(self.client)
        if self.server:
            close_watched(self.server)


class Commands:
    """The gate's side. One thread; `_open` is unset while stalled."""

    def __init__(self, options):
        self._options = options
        self._history = History(options.history, "nemesis")
        self._upstream = options.upstream
        self._lines = set()
        self._open = asyncio.Event()
        self._open.set()
        self._delay = 0.0
        self._refusing = False
        self._trigger = None
        self._cut = asyncio.Condition()
        self._counts = dict.fromkeys(("connections", "refused", "unreachable", "encryption_refused", "cancel_requests", "commits", "bytes_up",
                                      "bytes_down", "cut", "reset", "half_open", "commit_after", "commit_before"), 0)

    async def prepare(self):
        if self._options.unix:
            self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._listener.bind(self._options.unix)
            os.chmod(self._options.unix, 0o777)
        else:
            self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(512)
        self._listener.setblocking(False)
        self._acceptor = asyncio.create_task(self._accept())

    async def _accept(self):
        loop = asyncio.get_running_loop()
        while True:
            client, _ = await loop.sock_accept(self._listener)
            if client.family == socket.AF_INET:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._counts["connections"] += 1
            line = Line(client)
            if self._refusing:
                self._counts["refused"] += 1
                line.close(reset=True)
                continue
            self._lines.add(line)
            line.tasks = [asyncio.create_task(self._serve(line))]

    async def _serve(self, line):
        loop = asyncio.get_running_loop()
        await self._open.wait()
        line.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.server.setblocking(False)
        try:
            await loop.sock_connect(line.server, self._upstream)
        except OSError:  # No server there: the client meets what it would meet without us.
            self._counts["unreachable"] += 1
            self._drop(line, reset=True)
            return
        line.tasks.append(asyncio.create_task(self._pump(line, line.server, self._pass_answers, "bytes_down")))
        await self._pump(line, line.client, self._pass_requests, "bytes_up")

    async def _pump(self, line, source, pass_on, counter):
        loop = asyncio.get_running_loop()
        try:
            while True:
                data = await loop.sock_recv(source, 65536)
                if self._delay:
                    await asyncio.sleep(self._delay)
                await self._open.wait()  # It may have been stalled while we waited for data.
                if not data:
                    break
                self._counts[counter] += len(data)
                if not await pass_on(line, data):
                    return
        except OSError:
            pass
        self._drop(line)

    async def _pass_requests(self, line, data):
        loop = asyncio.get_running_loop()
        was_cancel = line.talk.cancels
        for piece, final, reply in line.talk.requests(data):
            if reply:
                self._counts["encryption_refused"] += 1
                await loop.sock_sendall(line.client, reply)
            trigger = self._trigger
            if final and trigger and trigger.point == "before" and trigger.fires(final.sql):
                self._cut_commit(line, trigger, final.sql)
                return False
            if piece:
                await loop.sock_sendall(line.server, piece)
        self._counts["cancel_requests"] += line.talk.cancels and not was_cancel
        return True

    async def _pass_answers(self, line, data):
        loop = asyncio.get_running_loop()
        for piece, finished in line.talk.answers(data):
            trigger = self._trigger
            if finished and finished.committed:
                self._counts["commits"] += 1
                if trigger and trigger.point == "after" and trigger.fires(finished.sql):
                    self._cut_commit(line, trigger, finished.sql)
                    return False
            line.held.append(piece)
            # Armed: the answers of a unit wait for its end, unless the client needs some of them to go on.
            waits = trigger and trigger.point == "after" and trigger.left and not finished and line.talk.unit_open and not line.talk.flush_wanted
            if not waits:
                text, line.held = b"".join(line.held), []
                await loop.sock_sendall(line.client, text)
        return True

    def _cut_commit(self, line, trigger, sql):
        self._counts["commit_" + trigger.point] += 1
        point = "commit.answered" if trigger.point == "after" else "commit.not_sent"
        self._history.fault("cut", self._options.name, point=point, how=trigger.how, sql=[" ".join(text.split())[:120] for text in sql][:8])
        if trigger.how == "silent":
            close_watched(line.server)  # Before a commit the server must learn that it will not come.
            self._kill_softly(line)
        else:
            self._drop(line, reset=trigger.how == "reset")
        asyncio.create_task(self._tell_waiters())

    async def _tell_waiters(self):
        async with self._cut:
            self._cut.notify_all()

    def _drop(self, line, reset=False):
        self._lines.discard(line)
        line.close(reset)

    def _kill_softly(self, line):
        line.dead = True
        drop_packets(line.client, True)
        for task in line.tasks:
            if task is not asyncio.current_task():
                task.cancel()

    def _end_all(self, reset):
        lines = list(self._lines)
        for line in lines:
            self._drop(line, reset)
        return len(lines)

    # The calls.

    def hello(self):
        return {"port": None if self._options.unix else self._listener.getsockname()[1]}

    def stall(self):
        self._history.fault("stall", self._options.name, lines=len(self._lines))
        self._open.clear()

    def delay(self, ms):
        self._history.fault("delay", self._options.name, ms=ms)
        self._delay = ms / 1000

    def half_open(self, new):
        if new not in ("pass", "drop"):
            raise ValueError(f"half_open(new={new!r})")
        living = [line for line in self._lines if not line.dead]
        self._history.fault("half_open", self._options.name, lines=len(living), new=new)
        self._counts["half_open"] += len(living)
        for line in living:
            self._kill_softly(line)
        if new == "drop":
            drop_packets(self._listener, True)
            self._dropping = True
        return len(living)

    def cut(self):
        self._history.fault("cut", self._options.name, lines=len(self._lines))
        count = self._end_all(reset=False)
        self._counts["cut"] += count
        return count

    def reset(self):
        self._history.fault("reset", self._options.name, lines=len(self._lines))
        count = self._end_all(reset=True)
        self._counts["reset"] += count
        return count

    def refuse(self):
        self._history.fault("refuse", self._options.name, lines=len(self._lines))
        self._refusing = True
        return self._end_all(reset=True)

    _dropping = False

    def heal(self):
        self._delay = 0.0
        self._refusing = False
        self._open.set()
        if self._dropping:
            drop_packets(self._listener, False)
            self._dropping = False
        self._history.fault("heal", self._options.name)

    def cut_commit(self, point, match, skip, count, how):
        self._trigger = Trigger(point, match, skip, count, how)

    def disarm(self):
        self._trigger = None

    async def wait_for_commit_cuts(self, count):
        async with self._cut:
            await self._cut.wait_for(lambda: self._counts["commit_after"] + self._counts["commit_before"] >= count)
        return self.counts()

    def counts(self):
        return self._counts | {"open": sum(not line.dead for line in self._lines)}

    def upstream(self, path):
        self._upstream = path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--control", type=int, required=True)
    parser.add_argument("--history")
    parser.add_argument("--upstream", required=True)
    parser.add_argument("--name", default="gate")
    parser.add_argument("--unix")
    options = parser.parse_args()
    serve(options.control, Commands(options))


if __name__ == "__main__":
    main()
