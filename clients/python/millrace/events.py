"""Server-sent events, read as the HTML standard says."""
from __future__ import annotations

import codecs
import dataclasses
import json
from typing import Any, Iterator


@dataclasses.dataclass(frozen=True)
class Event:
    id: str  # Where to resume after it.
    event: str  # "message" unless the server named it.
    data: Any  # The data as JSON, or as text where it is none.
    text: str


class EventParser:
    """Bytes in pieces in, events out."""

    def __init__(self, last_event_id: str = ""):
        self.last_event_id = last_event_id
        self.retry_seconds: float | None = None  # What the server asked for with `retry:`.
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""
        self._event = ""
        self._data: list[str] = []
        self._first = True
        self._ended_in_return = False

    def push(self, piece: bytes) -> Iterator[Event]:
        text = self._decoder.decode(piece)
        if text and self._first:
            self._first = False
            text = text.removeprefix("\ufeff")
        if text and self._ended_in_return:  # A line end of two characters may lie in two pieces.
            self._ended_in_return = False
            text = text.removeprefix("\n")
        if not text:
            return
        self._ended_in_return = text.endswith("\r")
        *lines, self._rest = (self._rest + text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for line in lines:
            if line:
                self._field(line)
            elif event := self._dispatch():
                yield event

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self.last_event_id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry_seconds = int(value) / 1000

    def _dispatch(self) -> Event | None:
        event, self._event = self._event or "message", ""
        if not self._data:
            return None
        text, self._data = "\n".join(self._data), []
        try:
            data = json.loads(text)
        except ValueError:
            data = text
        return Event(self.last_event_id, event, data, text)
