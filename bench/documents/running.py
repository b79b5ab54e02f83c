"""A Millrace of its own for a bench: server and worker in one process, asked over HTTP as anybody would."""
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
USER = "00000000-0000-4000-8000-0000000000be"


class Millrace:
    def __init__(self, folder, slots=4):
        """`slots` None: as many as it takes by itself."""
        self.data = folder / "data"
        ready = folder / "ready.json"
        self.process = subprocess.Popen(
            [BUILD / "millrace", "--data-dir", self.data, "--log-level", "warn", "up", "--listen", "127.0.0.1:0",
             *([] if slots is None else ["--slots", str(slots)]), "--ready-file", ready], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not ready.exists():
            if self.process.poll() is not None:
                sys.exit("millrace up ended before it was ready")
            time.sleep(0.05)
        self.url = json.loads(ready.read_text())["http_url"]
        self.token = subprocess.run(
            [BUILD / "millrace", "--data-dir", self.data, "token", "create", "--role", "authenticated", "--user", USER],
            check=True, capture_output=True, text=True).stdout.strip()

    def call(self, path, data=None, raw=False):
        request = urllib.request.Request(self.url + path, data=data, headers={
            "Authorization": "Bearer " + self.token, "Content-Type": "application/octet-stream"})
        with urllib.request.urlopen(request, timeout=600) as answer:
            body = answer.read()
        return body if raw else json.loads(body)

    def process_file(self, name, content):
        """Seconds until the searchable PDF could be fetched, until the document had ended, and that PDF; `cpu` has the processor's of both."""
        idle = self.cpu_seconds()
        begun = time.monotonic()
        document = self.call(f"/api/v1/uploads?file_name={name}", content)["id"]
        searchable = None
        while True:
            state = self.call(f"/api/v1/documents/{document}")
            if searchable is None and any(output["kind"] == "pdf" for output in state["outputs"]):
                early = self.call(f"/api/v1/documents/{document}/outputs/pdf", raw=True)
                searchable = time.monotonic() - begun
                self.cpu = [self.cpu_seconds() - idle]
            if state["state"] not in ("uploaded", "processing"):
                break
            time.sleep(0.01)
        took = time.monotonic() - begun
        self.cpu.append(self.cpu_seconds() - idle)
        if state["state"] != "completed":
            sys.exit(f"{name} ended as {state['state']}")
        pdf = self.call(f"/api/v1/documents/{document}/outputs/pdf", raw=True)
        if pdf != early:
            sys.exit(f"{name}: the PDF that could be fetched first is not the one at the end")
        return searchable, took, pdf

    def memory_mb(self, which="VmHWM"):
        """Of the process of server and worker: VmHWM the most it ever had, VmRSS what it has now."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(which):
                return int(line.split()[1]) / 1024
        return 0

    def cpu_seconds(self):
        """Processor time of server, worker, readers and the database, also of those that have ended."""
        ticks, family = 0, {self.process.pid}
        for stat in sorted(pathlib.Path("/proc").glob("[0-9]*/stat"), key=lambda path: int(path.parts[2])):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
                ours = int(fields[1]) in family or str(self.data).encode() in (stat.parent / "cmdline").read_bytes()
            except OSError:
                continue
            if ours or int(stat.parts[2]) in family:
                family.add(int(stat.parts[2]))
                ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def make_sample(kind, pages, seed, target):
    subprocess.run([BUILD / "millrace-samples", kind, "--pages", str(pages), "--seed", str(seed), "--out", target], check=True,
                   stdout=subprocess.DEVNULL)
