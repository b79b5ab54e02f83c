"""What can go wrong with a call."""
from __future__ import annotations

import email.utils
import json
import re
import time
from typing import Any, Mapping


class MillraceError(Exception):
    """All errors of this package."""


class Problem(MillraceError):
    """The server answered with a problem (RFC 9457). Programs act on `code`; `cid` finds the request in the server's log."""

    def __init__(self, status: int, problem: Mapping[str, Any], cid: str = "", retry_after: float | None = None):
        self.status = status
        self.code = str(problem.get("code") or "")
        self.detail = str(problem.get("detail") or problem.get("message") or problem.get("title") or "the server gave no reason")
        self.cid = str(problem.get("cid") or cid)
        # The routes of exports have them as details, which may also be an object.
        details = problem.get("details")
        self.errors = list(problem.get("errors") or (details if isinstance(details, list) else []))
        self.retry_after = retry_after
        super().__init__(f"{status} {self.code or 'error'}: {self.detail}")

    @classmethod
    def of(cls, status: int, headers: Mapping[str, str], body: bytes) -> "Problem":
        try:
            problem = json.loads(body)
        except ValueError:
            problem = None  # Not JSON: a proxy in between. The status says enough.
        if not isinstance(problem, dict):
            problem = {}
        return cls(status, problem, headers.get("x-correlation-id", ""), parse_retry_after(headers.get("retry-after")))


class ConnectionLost(MillraceError):
    """No answer came, however often it was tried. `in_doubt`: the server may have done what was asked."""

    def __init__(self, message: str, in_doubt: bool):
        self.in_doubt = in_doubt
        super().__init__(message)


class WaitTimeout(MillraceError):
    """It had not ended in time; nothing is wrong with it."""


def parse_retry_after(value: str | None, now: float | None = None) -> float | None:
    """Seconds of a Retry-After header, which has seconds or a date; None for what is neither."""
    if value is None:
        return None
    if re.fullmatch(r"\s*\d+(\.\d+)?\s*", value):
        return float(value)
    try:
        date = email.utils.parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return max(0.0, date.timestamp() - (time.time() if now is None else now))
