#!/usr/bin/env python3
"""Makes a small PNG from a PNG: an `exec:` handler that needs only Python's standard library.

stdin   the job as JSON; payload {"source": FILE | "pattern:WIDTHxHEIGHT:SEED", "width": N,
        "target": FILE}
stdout  the result as JSON
stderr  log lines, kept with the job
fd 3    {"progress": PERCENT, "message": TEXT} lines
exit    0 done, 65 the job can never work, 75 try again later

Running it twice for one job gives the same file: it is written beside its target and renamed.
"""

import hashlib
import json
import os
import re
import struct
import sys
import zlib

DONE, PERMANENT, RETRY = 0, 65, 75
SIGNATURE = b"\x89PNG\r\n\x1a\n"
PIXELS_MAX = 25_000_000


class BadJob(Exception):
    """The job's input is wrong; another attempt would fail in the same way."""


def progress(percent, message):
    try:
        os.write(3, (json.dumps({"progress": percent, "message": message}) + "\n").encode())
    except OSError:
        pass  # Started by hand, without fd 3.


def unfilter(data, width, height, channels):
    """Undoes PNG's per-row prediction; returns the rows."""
    stride = width * channels
    rows, before = [], bytearray(stride)
    if len(data) < (stride + 1) * height:
        raise BadJob("the picture's data is cut off")
    for y in range(height):
        kind = data[y * (stride + 1)]
        row = bytearray(data[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left = row[x - channels] if x >= channels else 0
            above = before[x]
            corner = before[x - channels] if x >= channels else 0
            if kind == 1:
                row[x] = (row[x] + left) & 255
            elif kind == 2:
                row[x] = (row[x] + above) & 255
            elif kind == 3:
                row[x] = (row[x] + (left + above) // 2) & 255
            elif kind == 4:
                guess = left + above - corner
                nearest = min((left, above, corner), key=lambda v: abs(guess - v))
                row[x] = (row[x] + nearest) & 255
            elif kind != 0:
                raise BadJob(f"unknown PNG filter {kind}")
        rows.append(row)
        before = row
    return rows


def read_png(path):
    """Returns (width, height, rows of RGB) of an 8-bit, non-interlaced PNG."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        raise BadJob(f"there is no file {path}") from None
    if not data.startswith(SIGNATURE):
        raise BadJob(f"{path} is not a PNG")
    at, packed, header = len(SIGNATURE), b"", None
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        at += 12 + length
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        elif kind == b"IEND":
            break
    if header is None:
        raise BadJob(f"{path} has no header")
    width, height, depth, color, _, _, interlace = header
    channels = {0: 1, 2: 3, 4: 2, 6: 4}.get(color)
    if depth != 8 or interlace != 0 or channels is None:
        raise BadJob("only 8-bit grey and colour PNGs without interlacing are understood")
    if not 0 < width * height <= PIXELS_MAX:
        raise BadJob(f"{width} x {height} pixels are too many")
    try:
        raw = zlib.decompress(packed)
    except zlib.error as error:
        raise BadJob(f"the picture is damaged: {error}") from None
    rows = []
    for row in unfilter(raw, width, height, channels):
        if channels >= 3:
            rows.append([tuple(row[i:i + 3]) for i in range(0, len(row), channels)])
        else:
            rows.append([(row[i],) * 3 for i in range(0, len(row), channels)])
    return width, height, rows


def draw_pattern(width, height, seed):
    """A picture from a number, for trying things out without a file."""
    return width, height, [
        [((x * 255 // width + seed * 37) & 255, (y * 255 // height + seed * 91) & 255,
          ((x ^ y) + seed * 17) & 255) for x in range(width)] for y in range(height)]


def shrink(width, height, rows, new_width):
    """Averages the boxes of pixels that fall into each new pixel."""
    new_width = min(new_width, width)
    new_height = max(1, round(height * new_width / width))
    out, told = [], 0
    for y in range(new_height):
        top, bottom = y * height // new_height, max(y * height // new_height + 1,
                                                    (y + 1) * height // new_height)
        line = []
        for x in range(new_width):
            left = x * width // new_width
            right = max(left + 1, (x + 1) * width // new_width)
            box = [rows[v][u] for v in range(top, bottom) for u in range(left, right)]
            line.append(tuple(sum(pixel[c] for pixel in box) // len(box) for c in range(3)))
        out.append(line)
        percent = 20 + 70 * (y + 1) // new_height
        if percent >= told + 20:
            told = percent
            progress(percent, f"row {y + 1} of {new_height}")
    return new_width, new_height, out


def write_png(path, width, height, rows):
    raw = b"".join(b"\0" + bytes(c for pixel in row for c in pixel) for row in rows)

    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body +
                struct.pack(">I", zlib.crc32(kind + body)))

    data = (SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(raw, 6)) + chunk(b"IEND", b""))
    partial = f"{path}.{os.getpid()}.part"
    with open(partial, "wb") as file:
        file.write(data)
    os.replace(partial, path)
    return data


def run(job):
    payload = job["payload"]
    source, target = payload.get("source"), payload.get("target")
    new_width = payload.get("width", 64)
    if not isinstance(source, str) or not isinstance(target, str):
        raise BadJob("payload.source and payload.target must be texts")
    if not isinstance(new_width, int) or not 1 <= new_width <= 4096:
        raise BadJob("payload.width must be a whole number from 1 to 4096")
    progress(5, "reading")
    pattern = re.fullmatch(r"pattern:(\d{1,4})x(\d{1,4}):(\d{1,9})", source)
    if pattern:
        width, height, rows = draw_pattern(*(max(1, int(part)) for part in pattern.groups()))
    else:
        width, height, rows = read_png(source)
    progress(20, f"{width} x {height} pixels")
    small = shrink(width, height, rows, new_width)
    data = write_png(target, *small)
    print(f"wrote {target}: {small[0]} x {small[1]}, {len(data)} bytes", file=sys.stderr)
    return {"target": target, "width": small[0], "height": small[1], "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest()}


def main():
    try:
        job = json.load(sys.stdin)
        result = run(job)
    except (BadJob, ValueError, KeyError) as error:
        print(f"cannot make a thumbnail: {error}", file=sys.stderr)
        return PERMANENT
    except OSError as error:
        print(f"will try again: {error}", file=sys.stderr)
        return RETRY
    ledger = os.environ.get("LEDGER")
    if ledger:  # A record outside the queue, for those who want to compare.
        with open(ledger, "a", encoding="utf-8") as file:
            file.write(f"{job['job_type']} {job['job_id']} done\n")
    print(json.dumps(result))
    return DONE


if __name__ == "__main__":
    sys.exit(main())
