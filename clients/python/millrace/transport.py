"""How a call becomes requests: credentials, time-outs, and repeats where they are safe.

A call is repeated only if that is safe: reads, PUT and DELETE, and POSTs with an Idempotency-Key. What is repeated: no connection, 408, 429, 502, 503,
504; waits grow, are spread by chance, and are never shorter than the server's Retry-After.
"""
from __future__ import annotations

import dataclasses
import http.client
import json
import random
import ssl
import threading
import time
import urllib.parse
from typing import IO, Any, Callable, Iterator, Mapping

from .errors import ConnectionLost, Problem
from .events import Event, EventParser

RETRIED = {408, 429, 502, 503, 504}
SAFE = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}
PIECE_BYTES = 64 * 1024
IDLE_SECONDS_MAX = 20


@dataclasses.dataclass
class Answer:
    status: int
    headers: dict[str, str]  # Names in lower case.
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body) if self.body else None


@dataclasses.dataclass
class Request:
    method: str
    path: str
    query: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    body: bytes | IO[bytes] | None = None
    repeatable: bool = False

    @property
    def target(self) -> str:
        pairs = [(name, _text(value)) for name, value in self.query.items() if value is not None]
        return self.path + ("?" + urllib.parse.urlencode(pairs) if pairs else "")


@dataclasses.dataclass
class Settings:
    base_url: str
    token: str | Callable[[], str] | None = None
    tenant: str | None = None
    timeout: float = 60.0
    retries: int = 4
    retry_base: float = 0.2
    retry_max: float = 20.0
    ssl_context: ssl.SSLContext | None = None
    sleep: Callable[[float], None] = time.sleep


class Transport:
    """Thread-safe: every thread has a connection of its own."""

    def __init__(self, settings: Settings):
        url = urllib.parse.urlsplit(settings.base_url)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError("base_url must be like http://127.0.0.1:8080")
        self.settings = settings
        self._url = url
        self._prefix = url.path.rstrip("/")
        self._local = threading.local()

    # ---- calls

    def call(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None, key: str | None = None,
             headers: Mapping[str, str] | None = None) -> Answer:
        """JSON in, an answer out. Raises Problem and ConnectionLost."""
        request = Request(method, path, query or {}, dict(headers or {}))
        if body is not None:
            request.body = json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
            request.headers["Content-Type"] = "application/json"
        if key is not None:
            request.headers["Idempotency-Key"] = key
        request.repeatable = method in SAFE or key is not None
        return self.send(request)

    def send(self, request: Request) -> Answer:
        in_doubt = False
        attempt = 0
        while True:
            try:
                answer = self._once(request)
                if answer.status < 400:
                    return answer
                failure: Problem | ConnectionLost = Problem.of(answer.status, answer.headers, answer.body)
                if answer.status == 404 and request.method == "DELETE" and in_doubt:
                    return Answer(204, {}, b"")  # The request that got no answer had done it.
                # A request before this one, whose answer did not come, may still be under way.
                under_way = answer.status == 409 and failure.code == "conflict" and in_doubt and "Idempotency-Key" in request.headers
                if answer.status not in RETRIED and not under_way:
                    raise failure
                in_doubt = in_doubt or answer.status == 504
            except (OSError, http.client.HTTPException) as error:
                self.close()
                in_doubt = True
                failure = ConnectionLost(f"{request.method} {request.path}: no answer ({type(error).__name__})", request.method not in SAFE)
                failure.__cause__ = error
            asked = getattr(failure, "retry_after", None) or 0.0
            if not request.repeatable or attempt >= self.settings.retries or asked > self.settings.retry_max or not self._rewind(request):
                raise failure
            attempt += 1
            self.settings.sleep(max(asked, self.backoff(attempt)))

    def backoff(self, attempt: int) -> float:
        most = min(self.settings.retry_base * 2 ** (attempt - 1), self.settings.retry_max)
        return most / 2 + random.random() * most / 2

    # ---- streams

    def stream(self, path: str, *, last_event_id: str = "", idle_timeout: float = 60.0) -> Iterator[Event]:
        """Events until the server says that there are no more; opened anew, behind the last one, whenever the connection breaks."""
        pause = 1.0
        failures = 0
        while True:
            parser = EventParser(last_event_id)
            connection = self._connect(idle_timeout)
            try:
                headers = self._headers({"Accept": "text/event-stream"})
                if last_event_id:
                    headers["Last-Event-ID"] = last_event_id
                connection.request("GET", self._prefix + path, headers=headers)
                response = connection.getresponse()
                if response.status == 204:
                    return
                if response.status >= 400:
                    raise Problem.of(response.status, _lower(response), response.read(PIECE_BYTES))
                while piece := response.read1(PIECE_BYTES):
                    failures = 0
                    for event in parser.push(piece):
                        last_event_id = event.id
                        yield event
                wait = 0.0
            except Problem as problem:
                failures += 1
                if problem.status not in RETRIED or failures > self.settings.retries or (problem.retry_after or 0) > self.settings.retry_max:
                    raise
                wait = max(problem.retry_after or 0.0, self.backoff(failures))
            except (OSError, http.client.HTTPException) as error:
                failures += 1
                if failures > self.settings.retries:
                    raise ConnectionLost(f"GET {path}: the stream breaks again and again", False) from error
                wait = self.backoff(failures)
            finally:
                connection.close()
            last_event_id = parser.last_event_id
            pause = parser.retry_seconds if parser.retry_seconds is not None else pause
            self.settings.sleep(max(pause, wait))

    # ---- connections

    def close(self) -> None:
        """Closes this thread's connection; the next call opens another."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        if self._url.scheme == "https":
            context = self.settings.ssl_context or ssl.create_default_context()
            return http.client.HTTPSConnection(self._url.hostname, self._url.port, timeout=timeout, context=context)
        return http.client.HTTPConnection(self._url.hostname, self._url.port, timeout=timeout)

    def _headers(self, more: Mapping[str, str]) -> dict[str, str]:
        headers = {"User-Agent": "millrace-python"}
        token = self.settings.token() if callable(self.settings.token) else self.settings.token
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if self.settings.tenant:
            headers["x-millrace-tenant"] = self.settings.tenant
        headers.update(more)
        return headers

    def _once(self, request: Request) -> Answer:
        headers = self._headers(request.headers)
        connection = getattr(self._local, "connection", None)
        # The server closes connections that idle, and a request that cannot be repeated must not meet that.
        if connection is not None and time.monotonic() - self._local.used_at > IDLE_SECONDS_MAX:
            self.close()
            connection = None
        if connection is None:
            connection = self._local.connection = self._connect(self.settings.timeout)
        self._local.used_at = time.monotonic()
        connection.request(request.method, self._prefix + request.target, body=request.body, headers=headers)
        response = connection.getresponse()
        answer = Answer(response.status, _lower(response), response.read())
        if response.will_close:
            self.close()
        return answer

    @staticmethod
    def _rewind(request: Request) -> bool:
        """Whether the body can be sent again."""
        if request.body is None or isinstance(request.body, bytes):
            return True
        if not request.body.seekable():
            return False
        request.body.seek(0)
        return True


def quote(part: str) -> str:
    """One segment of a path."""
    if not part:
        raise ValueError("an id or name is empty")
    return urllib.parse.quote(str(part), safe="")


def _lower(response: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_text(one) for one in value)
    return str(value)
