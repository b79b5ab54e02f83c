"""HttpLedger: an HTTP endpoint that writes down every request before it answers, and misbehaves on command. A process of its own.

    ledger = HttpLedger(world, seed=7).start()       on a free port of the loopback interface; ledger.url is for `run = "http://…"`
    ledger.misbehave(before=0.05, after=0.05, slow=0.02, throttle=0.05, fail=0.05, wrong=0.02, redirect=0.02)   shares; others are answered
    ledger.behave()
    ledger.limit(count, window_ms, enforce=False)    a sliding window of its own over arrival times
    ledger.counts()                                  requests, effects, keys, duplicates, answers by kind, most_in_window, over_limit
    ledger.wait_for("effects", n)                    returns when that count is reached
    fate(seed, shares, name), mood(seed, shares, name, visit)   what it will do, for whoever wants to know beforehand

    before    the connection is reset and nothing written down but the fault: no effect
    after     the effect is written down, then the connection is reset: an effect whose answer is lost
    slow      the effect is written down, the answer comes when twice the job's timeout (X-Millrace-Timeout-Ms) has passed
    throttle  429 with Retry-After: 1; no effect         fail       500; no effect
    wrong     the effect is written down, the answer claims to be JSON and is not       redirect   302; no effect

`wrong` and `redirect` end a job for good, so they are decided by the seed and the job's name alone (fate). The others pass (mood): decided by
seed, name and the number of the visit, and only on the first PASSING_MAX visits, so that every job ends. The name is payload.key_id if the
body has one, else the Idempotency-Key.

History (role handler-server): {"op":"effect","key":…,"job":…,"name":…,"visit":…,"arrived":…,"mood":…,"answered":bool,"status":…} for every request
that is read, before the answer; status 2xx means that the effect happened. Moods other than ok also write a fault.
"""
import argparse
import asyncio
import collections
import hashlib
import json
import socket
import struct

from .history import History, now_ns
from .service import Service, serve

ENDING = ("wrong", "redirect")
PASSING = ("before", "after", "slow", "throttle", "fail")
PASSING_MAX = 3
STATUS = {"ok": 200, "after": 200, "slow": 200, "wrong": 200, "throttle": 429, "fail": 500, "redirect": 302, "over": 429}
REASONS = {200: "OK", 302: "Found", 400: "Bad Request", 429: "Too Many Requests", 500: "Internal Server Error"}


def _roll(seed, shares, names, *what):
    """The same for the same words, whatever the order of arrival."""
    digest = hashlib.sha256(json.dumps([seed, *what]).encode()).digest()
    point = int.from_bytes(digest[:8], "big") / 2**64
    for name in names:
        point -= shares.get(name, 0)
        if point < 0:
            return name
    return "ok"


def fate(seed, shares, name):
    """wrong, redirect, or ok."""
    return _roll(seed, shares, ENDING, "fate", name)


def mood(seed, shares, name, visit):
    """What happens to this visit, the first is 1."""
    passing = _roll(seed, shares, PASSING, "mood", name, visit) if visit <= PASSING_MAX else "ok"
    return passing if passing != "ok" else fate(seed, shares, name)


class HttpLedger(Service):
    module = "nemesis.http_ledger"

    def __init__(self, world, seed=0, name="http_ledger"):
        super().__init__(world, name)
        self.seed = seed
        self.port = None

    def start(self):
        self.port = self.launch(["--name", self.name, "--seed", self.seed])["port"]
        return self

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/effect"

    def misbehave(self, **shares):
        self.call("misbehave", shares=shares)

    def behave(self):
        self.call("misbehave", shares={})

    def limit(self, count, window_ms, enforce=False):
        self.call("limit", count=count, window_ms=window_ms, enforce=enforce)

    def counts(self):
        return self.call("counts")

    def wait_for(self, name, count, timeout=60):
        return self.call("wait_for", timeout=timeout, name=name, count=count)


class Window:
    """Arrivals in the last `length` nanoseconds."""

    def __init__(self, count, length, enforce):
        self.count, self.length, self.enforce = count, length, enforce
        self.most = 0
        self._arrivals = collections.deque()

    def arrive(self, t):
        """True when this one is too many."""
        while self._arrivals and self._arrivals[0] <= t - self.length:
            self._arrivals.popleft()
        over = len(self._arrivals) >= self.count
        if not (over and self.enforce):
            self._arrivals.append(t)
        self.most = max(self.most, len(self._arrivals))
        return over


class Request:
    def __init__(self, headers, body, arrived):
        self.key = headers.get("idempotency-key", "")
        self.timeout_ms = int(headers.get("x-millrace-timeout-ms", 1000))
        self.arrived = arrived
        try:
            job = json.loads(body)
        except ValueError:
            job = {}
        payload = job.get("payload")
        self.job = job.get("job_id")
        self.delivery = job.get("delivery_count")
        self.name = payload.get("key_id", self.key) if isinstance(payload, dict) else self.key


async def read_request(reader):
    """None at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    arrived = now_ns()
    headers = {}
    for line in head.decode("latin-1").split("\r\n")[1:]:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    try:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return Request(headers, body, arrived)


class Commands:
    def __init__(self, options):
        self._options = options
        self._history = History(options.history, "handler-server")
        self._shares = {}
        self._window = None
        self._visits = collections.Counter()
        self._effects = collections.Counter()
        self._counts = collections.Counter()
        self._changed = asyncio.Condition()

    async def prepare(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=512)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader, writer):
        try:
            while (request := await read_request(reader)) is not None:
                if not await self._answer(request, writer):
                    return
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def _answer(self, request, writer):
        """False when the connection is gone."""
        how = self._judge(request)
        await self._tell_waiters()
        if how in ("before", "after"):
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        if how == "slow":
            await asyncio.sleep(2 * request.timeout_ms / 1000)
        body = {"ok": '{"done": true}', "slow": '{"done": true}', "wrong": '{"done": tru'}.get(how, '{"error": "on command"}')
        status = STATUS[how]
        extra = {429: "Retry-After: 1\r\n", 302: "Location: /elsewhere\r\n"}.get(status, "")
        writer.write(f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{extra}\r\n{body}".encode())
        await writer.drain()
        return True

    def _judge(self, request):
        """Decides and writes down: nothing that is answered is unknown to the history."""
        self._counts["requests"] += 1
        self._visits[request.name] += 1
        visit = self._visits[request.name]
        how = mood(self._options.seed, self._shares, request.name, visit)
        if self._window and self._window.arrive(request.arrived):
            self._counts["over_limit"] += 1
            self._history.fault("over_limit", self._options.name, key=request.key, enforced=self._window.enforce)
            how = "over" if self._window.enforce else how
        self._counts[how] += 1
        if how != "before":
            status = STATUS[how]
            self._history.write("effect", key=request.key, job=request.job, name=request.name, visit=visit, delivery=request.delivery,
                                arrived=request.arrived, mood=how, answered=how != "after", status=status)
            if status == 200:
                self._counts["effects"] += 1
                self._counts["duplicates"] += self._effects[request.key] > 0
                self._effects[request.key] += 1
        if how not in ("ok", "over"):
            self._history.fault("http_" + how, self._options.name, key=request.key, job=request.job)
        return how

    async def _tell_waiters(self):
        async with self._changed:
            self._changed.notify_all()

    # The calls.

    def hello(self):
        return {"port": self._port}

    def misbehave(self, shares):
        unknown = set(shares) - set(ENDING) - set(PASSING)
        if unknown:
            raise ValueError(f"no such misbehaviour: {sorted(unknown)}")
        self._history.fault("http_misbehave" if shares else "heal", self._options.name, shares=shares)
        self._shares = shares

    def limit(self, count, window_ms, enforce):
        self._window = Window(count, window_ms * 1_000_000, enforce)

    def counts(self):
        return dict(self._counts) | {"keys": len(self._effects), "most_in_window": self._window.most if self._window else None}

    async def wait_for(self, name, count):
        async with self._changed:
            await self._changed.wait_for(lambda: self._counts[name] >= count)
        return self.counts()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--control", type=int, required=True)
    parser.add_argument("--history")
    parser.add_argument("--name", default="http_ledger")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    serve(options.control, Commands(options))


if __name__ == "__main__":
    main()
