#!/usr/bin/env python3
"""Memory of the server while it sends a ZIP of large exports: 10 files of 100 MB by default, goal: 64 MB resident at most (X-28).

    bench/export/zip.py [--files 10] [--megabytes 100] [--build build/release]
    bench/export/zip.py --wide        # an archive above 4 GiB: a file of 4.5 GiB, files behind the first 4 GiB; some minutes, 12 GB of disk

The files are uploaded, and their exports completed as workers of a service of one's own would. Then the server is started anew, one client
downloads the archive as fast as it comes, and another one slowly at the same time. Printed: the highest resident size of the server (VmHWM), before
and at the end, bytes and time. Every entry is compared with its SHA-256, and where there are unzip and bsdtar, they read the archive too. Ends with 1 if
the goal is missed.
"""
import argparse
import hashlib
import http.client
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import threading
import time
import typing
import urllib.parse
import zipfile

from installation import ROOT, USER, Installation

MEGA = 1 << 20


def status(pid, name):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0


class File(typing.NamedTuple):
    seed: int
    megabytes: int
    random: float = 0.5  # The rest are zeros, so that deflate has work and something to gain.

    @property
    def path(self):
        return f"{USER}/large_{self.seed}.pdf"


# What does not fit into 32 bits: a file, the place where one begins, and where the directory does.
WIDE = [File(0, 4608), *[File(1, 1024, 1.0)] * 3, File(2, 1)]


def pieces(file):
    source = random.Random(file.seed)
    noise = int(MEGA * file.random)
    for _ in range(file.megabytes):
        yield source.randbytes(noise) + bytes(MEGA - noise)


def upload(address, token, file):
    connection = http.client.HTTPConnection(address, timeout=600)
    digest = hashlib.sha256()

    def body():
        for piece in pieces(file):
            digest.update(piece)
            yield piece
    connection.request("POST", f"/storage/v1/object/exports/{file.path}", body=body(), headers={
        "Authorization": f"Bearer {token}", "Content-Type": "application/pdf", "Content-Length": str(file.megabytes * MEGA)})
    answer = connection.getresponse()
    if answer.status != 200:
        sys.exit(f"upload: {answer.status} {answer.read()[:500]}")
    answer.read()
    return digest.hexdigest()


def download(address, token, batch, to, pause=0.0, limit=None):
    connection = http.client.HTTPConnection(address, timeout=600)
    connection.request("GET", f"/api/v1/export/batch/{batch}/download", headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    if answer.status != 200:
        sys.exit(f"download: {answer.status} {answer.read()[:500]}")
    size = 0
    with open(to, "wb") as file:
        while piece := answer.read(256 * 1024):
            file.write(piece)
            size += len(piece)
            if pause:
                time.sleep(pause)
            if limit and size >= limit:
                break
    connection.close()
    return size


def read_by_others(archive):
    """What unzip and bsdtar find wrong with it."""
    wrong = []
    for command in (["unzip", "-tq", archive], ["bsdtar", "-xOf", archive]):
        if shutil.which(command[0]) is None:
            print(f"{command[0]} is not installed", file=sys.stderr)
            continue
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            wrong.append(f"{command[0]}: {done.stderr.strip()[-300:]}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    arguments = parser.parse_args()
    files = WIDE if arguments.wide else [File(n, arguments.megabytes) for n in range(arguments.files)]
    with Installation(arguments.build) as world:
        address = urllib.parse.urlsplit(world.database()).netloc
        world.config(quota_bytes=1 << 40, running_max=1000, operations_per_day=1000000)
        token = world.token()
        documents = [world.sql(f"select millrace.put_export_document('{USER}', null, '{{\"title\": \"Large\", \"data\": {{\"n\": {n}}}}}') ->> 'id'")[0][0]
                     for n in range(len(files))]
        ids = ",".join(f"'{d}'::uuid" for d in documents)
        made = json.loads(world.sql(f"select millrace.order_exports('{USER}', array[{ids}], '{{}}', '{{\"batch\": true}}')")[0][0])
        digests = {}
        for n, file in enumerate(files):
            if file not in digests:
                digests[file] = upload(address, token, file)
            world.sql("with j as materialized (select id, locked_by from millrace.fetch_next_export_job()) "
                      f"select millrace.complete_job(j.id, j.locked_by, '{{\"file_path\": \"{file.path}\", \"file_name\": \"Large.pdf\"}}') from j")
            print(f"\rstored {n + 1} of {len(files)}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        # A server that has done nothing else.
        said, server = world.start("serve", "--no-keeper", "--listen", "127.0.0.1:0")
        address = urllib.parse.urlsplit(said["http_url"]).netloc
        idle = status(server.pid, "VmRSS")
        archive = pathlib.Path(world.folder.name, "all.zip")
        slow = threading.Thread(target=download, args=(address, token, made["batchId"], str(archive) + ".slow", 0.02, 50 * MEGA))
        slow.start()
        began = time.monotonic()
        size = download(address, token, made["batchId"], archive)
        took = time.monotonic() - began
        slow.join()
        peak = status(server.pid, "VmHWM")
        found = []
        with zipfile.ZipFile(archive) as packed:
            for name in packed.namelist():
                digest = hashlib.sha256()
                with packed.open(name) as entry:
                    while piece := entry.read(MEGA):
                        digest.update(piece)
                found.append(digest.hexdigest())
            far = max(entry.header_offset for entry in packed.infolist())
        whole = sorted(found) == sorted(digests[file] for file in files) and len(set(packed.namelist())) == len(files)
        wrong = read_by_others(str(archive))
        world.stop(server)
    held = peak <= 64 * MEGA and whole and not wrong and (not arguments.wide or far > 1 << 32)
    what = "files of " + ", ".join(f"{file.megabytes}" for file in files) if arguments.wide else f"{len(files)} files of {arguments.megabytes}"
    print(f"conditions: {os.cpu_count()} cores, {what} MB, half of it random or all; one client at full speed, one slow; files in a folder")
    for message in wrong:
        print(message)
    print(f"last entry at {far / MEGA:.0f} MB; archive of {size / MEGA:.0f} MB in {took:.1f} s ({size / MEGA / took:.0f} MB/s), every entry {'as stored' if whole else 'NOT AS STORED'}")
    print(f"resident {idle / MEGA:.1f} MB idle, {peak / MEGA:.1f} MB at most   goal <= 64 MB   {'held' if held else 'MISSED'}")
    return 0 if held else 1


sys.exit(main())
