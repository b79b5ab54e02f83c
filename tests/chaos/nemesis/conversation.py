"""Conversation: follows what a PostgreSQL client and server say to each other, so that the gate knows where a transaction ends.

Bytes go in as they come, pieces of whole messages come out:
    requests(data)   -> [(bytes, Final | None, reply)]  Final: this message makes the server commit what came before it;
                                                         reply: what the gate itself answers the client (N to requests for encryption)
    answers(data)    -> [(bytes, Finished | None)]       Finished: this ReadyForQuery ends a unit, with what is known of it

A unit is what ends with one ReadyForQuery: a simple query, or everything up to a Sync. In the extended protocol the server says
CommandComplete before it commits; only ReadyForQuery with status I says that an implicit transaction is durable. The SQL of prepared
statements and portals is remembered, so that a transaction has the texts of all statements it ran. Works for pipelined units.
"""
import collections
import re
import struct

from .wire import CANCEL_REQUEST, GSSENC_REQUEST, SSL_REQUEST, cut_messages, text_at

_BEGIN = re.compile(r"\s*(begin|start\s+transaction)\b", re.I)
_COMMIT = re.compile(r"\s*(commit|end)\b(?!\s+prepared)", re.I)
_ROLLBACK = re.compile(r"\s*(rollback|abort)\b(?!\s+(to|prepared))", re.I)
_COPY_IN = re.compile(r"\s*copy\b.*\bfrom\s+stdin", re.I | re.S)


class Final:
    """The message that would commit; `sql` has all texts of the transaction."""

    def __init__(self, sql):
        self.sql = sql


class Finished:
    def __init__(self, sql, committed):
        self.sql, self.committed = sql, committed


class _Unit:
    def __init__(self):
        self.sql = []
        self.failed = False
        self.rolled_back = False
        self.flush = False  # The client asked for answers before the end.
        self.judged = 0     # So many of its statements are behind a commit in the middle of it.


class Conversation:
    def __init__(self):
        self._from_client = bytearray()
        self._from_server = bytearray()
        self._greeted = False      # The startup message has been seen,
        self._ready = False        # and the first ReadyForQuery.
        self._statements, self._portals = {}, {}
        self._unit = _Unit()       # The one that the client is writing.
        self._units = collections.deque()  # Written, not yet answered.
        self._block = False        # Expected: inside begin … commit, as of the client's last message.
        self._asked, self._done = [], []  # Texts of the open transaction as asked, and as answered.
        self.cancels = False       # This connection only carries a cancel request.
        self.encryption_refused = 0

    @property
    def unit_open(self):
        """Whether answers belong to something that was asked, not to the greeting."""
        return self._ready and bool(self._units or self._unit.sql)

    @property
    def flush_wanted(self):
        return self._units[0].flush if self._units else self._unit.flush

    # From the client.

    def requests(self, data):
        self._from_client += data
        items = []
        if not self._greeted and not self._greet(items):
            return items
        if self.cancels:
            items.append((bytes(self._from_client), None, b""))
            self._from_client.clear()
            return items
        start = last = 0
        for kind, begin, end in cut_messages(self._from_client):
            final = self._request(kind, begin + 5)
            last = end
            if final:  # What comes before it goes on by itself.
                if begin > start:
                    items.append((bytes(self._from_client[start:begin]), None, b""))
                items.append((bytes(self._from_client[begin:end]), final, b""))
                start = end
        if last > start:
            items.append((bytes(self._from_client[start:last]), None, b""))
        del self._from_client[:last]
        return items

    def _greet(self, items):
        """Startup messages have no kind: length and code. True when the session has begun."""
        while len(self._from_client) >= 8:
            length, code = struct.unpack_from("!II", self._from_client)
            if len(self._from_client) < length:
                return False
            text = bytes(self._from_client[:length])
            del self._from_client[:length]
            if code in (SSL_REQUEST, GSSENC_REQUEST):
                self.encryption_refused += 1
                items.append((b"", None, b"N"))
                continue
            self._greeted = True
            self.cancels = code == CANCEL_REQUEST
            items.append((text, None, b""))
            return True
        return False

    def _request(self, kind, at):
        buffer = self._from_client
        if kind == b"Q":
            sql, _ = text_at(buffer, at)
            self._unit.sql.append(sql)
            if _COPY_IN.match(sql):
                return None  # Its end is CopyDone.
            return self._end_unit()
        if kind == b"P":
            name, behind = text_at(buffer, at)
            self._statements[name], _ = text_at(buffer, behind)
        elif kind == b"B":
            portal, behind = text_at(buffer, at)
            statement, _ = text_at(buffer, behind)
            self._portals[portal] = self._statements.get(statement, "")
        elif kind == b"E":
            portal, _ = text_at(buffer, at)
            sql = self._portals.get(portal, "")
            self._unit.sql.append(sql)
            if _COMMIT.match(sql):  # Done at once, the Sync is only its end.
                self._unit.judged = len(self._unit.sql)
                self._block = False
                final, self._asked = Final(self._asked + self._unit.sql), []
                return final
        elif kind == b"H":
            self._unit.flush = True
        elif kind == b"S":
            return self._end_unit()
        elif kind == b"c" and len(self._unit.sql) == 1 and _COPY_IN.match(self._unit.sql[0]):
            return self._end_unit()
        return None

    def _end_unit(self):
        unit, self._unit = self._unit, _Unit()
        self._units.append(unit)
        fresh = unit.sql[unit.judged:]
        self._asked += fresh
        commits = bool(fresh) and not self._block
        for text in fresh:
            for part in text.split(";"):
                if _BEGIN.match(part):
                    self._block, commits = True, False
                elif _COMMIT.match(part):
                    self._block, commits = False, True
                elif _ROLLBACK.match(part):
                    self._block, commits = False, False
        final = Final(list(self._asked)) if commits else None
        if not self._block:
            self._asked.clear()
        return final

    # From the server.

    def answers(self, data):
        self._from_server += data
        if self.cancels or not self._greeted:
            everything = bytes(self._from_server)
            self._from_server.clear()
            return [(everything, None)]
        items = []
        start = last = 0
        for kind, begin, end in cut_messages(self._from_server):
            last = end
            if kind == b"Z":
                items.append((bytes(self._from_server[start:end]), self._finish(self._from_server[begin + 5:begin + 6])))
                start = end
            elif kind in (b"G", b"W"):  # The server waits for what the client has to copy.
                items.append((bytes(self._from_server[start:end]), None))
                start = end
            elif self._units or self._unit.sql:
                self._note(kind, begin + 5)
        if last > start:
            items.append((bytes(self._from_server[start:last]), None))
        del self._from_server[:last]
        return items

    def _note(self, kind, at):
        unit = self._units[0] if self._units else self._unit
        if kind == b"E":
            unit.failed = True
        elif kind == b"C" and bytes(self._from_server[at:at + 8]) == b"ROLLBACK":
            unit.rolled_back = True

    def _finish(self, status):
        if not self._ready:
            self._ready = True
            return None
        unit = self._units.popleft() if self._units else _Unit()
        self._done += unit.sql
        committed = status == b"I" and bool(self._done) and not unit.failed and not unit.rolled_back
        finished = Finished(list(self._done), committed)
        if status == b"I":
            self._done.clear()
        if not self._units and not self._unit.sql:
            self._block = status != b"I"  # What is known beats what was expected.
            if not self._block:
                self._asked.clear()
        return finished
