"""The PostgreSQL protocol, version 3, as far as the nemesis needs it: framing, and a small client that is faster to start than psql.

    client = Client(socket_path | (host, port), user="millrace", database="millrace", timeout=10)
    client.query("select 1")          rows of the last statement, every value str or None; raises ServerError or ConnectionLost
    client.execute([sql, ...])        extended protocol: all statements and one Sync, as libpq's pipeline mode sends them
    client.send(message(...)), client.read_message(), client.close()
"""
import socket
import struct

PROTOCOL = 196608
CANCEL_REQUEST, SSL_REQUEST, GSSENC_REQUEST = 80877102, 80877103, 80877104
_HEAD = struct.Struct("!cI")


class ConnectionLost(Exception):
    """No answer came; a statement that was sent may have been carried out."""


class ServerError(Exception):
    def __init__(self, fields):
        super().__init__(f"{fields.get('M')} [{fields.get('C')}]")
        self.sqlstate = fields.get("C")


def message(kind, body=b""):
    return _HEAD.pack(kind, len(body) + 4) + body


def cut_messages(buffer):
    """Whole messages at the start of a bytearray as (kind, start, end); the caller removes them."""
    at, size = 0, len(buffer)
    found = []
    while size - at >= 5:
        kind, length = _HEAD.unpack_from(buffer, at)
        end = at + 1 + length
        if end > size:
            break
        found.append((kind, at, end))
        at = end
    return found


def text_at(buffer, at):
    """A zero-terminated text and the place behind it."""
    end = buffer.index(0, at)
    return bytes(buffer[at:end]).decode(errors="replace"), end + 1


def error_fields(body):
    fields = {}
    for part in bytes(body).split(b"\0"):
        if part:
            fields[chr(part[0])] = part[1:].decode(errors="replace")
    return fields


def startup_message(user, database, **parameters):
    body = struct.pack("!I", PROTOCOL)
    for name, value in {"user": user, "database": database, **parameters}.items():
        body += name.encode() + b"\0" + value.encode() + b"\0"
    body += b"\0"
    return struct.pack("!I", len(body) + 4) + body


def parse_bind_execute(sql, statement=b""):
    return (message(b"P", statement + b"\0" + sql.encode() + b"\0\0\0") + message(b"B", b"\0" + statement + b"\0" + b"\0\0\0\0\0\0")
            + message(b"E", b"\0\0\0\0\0"))


class Client:
    def __init__(self, address, user="millrace", database="millrace", timeout=10, **parameters):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self._buffer = bytearray()
        self.backend_pid = None
        try:
            self.socket.connect(address)
            self.send(startup_message(user, database, **parameters))
            self._until_ready(self._greeting)
        except (OSError, ServerError, ConnectionLost):
            self.socket.close()
            raise

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise ConnectionLost(str(error)) from error

    def read_message(self):
        while True:
            found = cut_messages(self._buffer)
            if found:
                kind, start, end = found[0]
                body = bytes(self._buffer[start + 5:end])
                del self._buffer[:end]
                return kind, body
            try:
                data = self.socket.recv(65536)
            except OSError as error:
                raise ConnectionLost(str(error) or type(error).__name__) from error
            if not data:
                raise ConnectionLost("the server closed the connection")
            self._buffer += data

    def _greeting(self, kind, body):
        if kind == b"R" and struct.unpack_from("!I", body)[0] != 0:
            raise ConnectionLost("the server wants a password")
        if kind == b"K":
            self.backend_pid = struct.unpack_from("!I", body)[0]

    def _until_ready(self, handle):
        """Up to ReadyForQuery; an error of the server is raised there, or where the connection ends."""
        failure = None
        while True:
            try:
                kind, body = self.read_message()
            except ConnectionLost:
                if failure:
                    raise failure
                raise
            if kind == b"E":
                failure = failure or ServerError(error_fields(body))
            elif kind == b"Z":
                self.status = body
                if failure:
                    raise failure
                return
            else:
                handle(kind, body)

    def _collect(self):
        rows = []

        def handle(kind, body):
            if kind == b"T":
                rows.clear()
            elif kind == b"D":
                rows.append(read_row(body))

        self._until_ready(handle)
        return rows

    def query(self, sql):
        self.send(message(b"Q", sql.encode() + b"\0"))
        return self._collect()

    def value(self, sql):
        rows = self.query(sql)
        return rows[0][0] if rows else None

    def execute(self, statements):
        """Rows of all statements one after the other."""
        self.send(b"".join(parse_bind_execute(sql) for sql in statements) + message(b"S"))
        return self._collect()

    def close(self):
        try:
            self.socket.sendall(message(b"X"))
        except OSError:
            pass
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def read_row(body):
    count, = struct.unpack_from("!H", body)
    at, row = 2, []
    for _ in range(count):
        length, = struct.unpack_from("!i", body, at)
        at += 4
        if length < 0:
            row.append(None)
            continue
        row.append(body[at:at + length].decode(errors="replace"))
        at += length
    return row
