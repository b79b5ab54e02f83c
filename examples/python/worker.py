#!/usr/bin/env python3
"""A Millrace worker over HTTP: the standard library, a URL and a token, no database.

    export MILLRACE_URL=http://127.0.0.1:8080
    export MILLRACE_TOKEN=$(millrace token create --role service_role)
    python3 worker.py

Also read: MILLRACE_QUEUES (default), MILLRACE_SLOTS (4), MILLRACE_LEASE_SECONDS (30). Put your own functions
into HANDLERS. What a handler returns is the job's result; Retry and Permanent say what else may
have happened, any other exception is a retry.

What makes it safe:
- Every job comes with a token. Whoever settles names it; one that was given away meanwhile gets
  "lease_lost" and changes nothing. So a job may run twice, but counts once.
- Every call may be repeated. When the answer of a settlement is lost it is sent again until one comes.
- Every claim says which jobs are held. What the answer of an earlier claim held, if it never came,
  goes back by that and is handed out again.
- A sign of life every third of the lease. Without one, the jobs belong to others.
"""
import json
import os
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request


class Retry(Exception):
    """Not now. The job is tried again, after `after_seconds` or as its queue says."""

    def __init__(self, message, after_seconds=None):
        super().__init__(message)
        self.after_seconds = after_seconds


class Permanent(Exception):
    """Never. The job becomes a dead letter with this message."""


class Cancelled(Exception):
    """Raised by Job.check(): somebody wants the job to stop, or it is not ours any more."""


def word_count(job):
    """An example: counts words, line by line."""
    text = job.payload.get("text")
    if not isinstance(text, str):
        raise Permanent("payload.text must be a text")
    lines = text.splitlines() or [""]
    words = 0
    for number, line in enumerate(lines, 1):
        job.check()
        words += len(line.split())
        job.progress(100 * number // len(lines), f"line {number} of {len(lines)}")
    job.log(f"counted {words} words")
    return {"words": words}


def noop(job):
    return job.payload


HANDLERS = {"word_count": word_count, "noop": noop}


class NotRegistered(Exception):
    """The engine does not know this process any more; its jobs belong to others."""


class Api:
    """POST with JSON. Answers are objects; errors of the network and 5xx are tried again."""

    def __init__(self, url, token):
        self.url = url.rstrip("/")
        self.token = token

    def post(self, verb, body, timeout=30):
        request = urllib.request.Request(
            f"{self.url}/api/v1/work/{verb}",
            data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            problem = error.read().decode(errors="replace")
            if error.code == 409 and '"lease_lost"' in problem:
                raise NotRegistered(problem) from None
            if error.code in (429, 502, 503, 504):
                raise ConnectionError(f"{verb}: {error.code} {problem}") from None
            raise RuntimeError(f"{verb}: {error.code} {problem}") from None

    def post_until_answered(self, verb, body):
        """Repeats while nothing is known to have happened: all verbs may be repeated."""
        pause = 0.2
        while True:
            try:
                return self.post(verb, body)
            except (OSError, ValueError) as error:  # URLError and timeouts are OSErrors.
                print(f"worker: {error}; again in {pause:.1f} s", file=sys.stderr)
                time.sleep(pause)
                pause = min(pause * 2, 5)


class Job:
    """One delivery, as a handler sees it."""

    def __init__(self, worker, claimed):
        self.worker = worker
        self.claimed = claimed
        self.payload = claimed["payload"]
        self.stopped = threading.Event()
        self.last_report = 0.0

    def check(self):
        if self.stopped.is_set():
            raise Cancelled()

    def progress(self, percent, message=""):
        """At most once a second, and at the end: people read it, not machines."""
        now = time.monotonic()
        if percent < 100 and now - self.last_report < 1:
            return
        self.last_report = now
        answer = self.worker.call(
            "progress", {"items": [{**self.held(), "progress": percent, "message": message}]}
        )
        for item in answer["items"]:
            if item["cancel_requested"] or not item["held"]:
                self.stopped.set()

    def log(self, message, level="info"):
        item = {**self.held(), "level": level, "message": message, "at_ms": time.time() * 1000}
        self.worker.call("log", {"items": [item]})

    def held(self):
        return {"job_id": self.claimed["job_id"], "token": self.claimed["token"]}


class Worker:
    def __init__(self, api, handlers, queues, slots, lease_seconds):
        self.api = api
        self.handlers = handlers
        self.queues = queues
        self.slots = slots
        self.lease_seconds = lease_seconds
        self.stopping = threading.Event()
        self.left = threading.Event()
        self.lock = threading.Lock()  # Guards jobs.
        self.jobs = {}  # By token.
        self.changed = threading.Condition(self.lock)
        self.key = {}

    def run(self):
        self.register()
        threading.Thread(target=self.beat, daemon=True).start()
        threading.Thread(target=self.claim_on, daemon=True).start()
        self.stopping.wait()
        self.drain()

    def claim_on(self):
        while not self.stopping.is_set():
            self.wait_for_a_slot()
            if not self.stopping.is_set():
                self.claim()

    def register(self):
        answer = self.api.post_until_answered(
            "register",
            {
                "name": "python",
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "version": "example",
                "slots": self.slots,
                "queues": self.queues,
                "job_types": sorted(self.handlers),
                "lease_seconds": self.lease_seconds,
            },
        )
        self.key = {"worker_id": answer["worker_id"], "process": answer["process"]}
        print(f"worker: registered as {answer['worker_id']}", file=sys.stderr, flush=True)

    def call(self, verb, body):
        return self.api.post_until_answered(verb, {**self.key, **body})

    def claim(self):
        with self.lock:
            held = list(self.jobs)
        body = {
            **self.key,
            "queues": self.queues,
            "job_types": sorted(self.handlers),
            "credit": self.slots - len(held),
            "wait_seconds": 20,
            "held": held,
        }
        try:
            answer = self.api.post("claim", body, timeout=40)
        except NotRegistered:
            if not self.stopping.is_set():
                self.start_anew()
            return
        except (OSError, ValueError, RuntimeError) as error:
            print(f"worker: {error}", file=sys.stderr)
            self.stopping.wait(1)
            return
        if self.stopping.is_set():
            return  # They go back when we leave.
        for claimed in answer["jobs"]:
            job = Job(self, claimed)
            with self.lock:
                self.jobs[claimed["token"]] = job
            threading.Thread(target=self.work, args=(job,), daemon=True).start()
        self.cancel(answer["cancel"])

    def work(self, job):
        outcome = self.outcome_of(job)
        try:
            answer = self.call("settle", {"settlements": [{**job.held(), **outcome}]})
            item = answer["items"][0]
            if item["answer"] not in ("settled", "replaced"):
                print(f"worker: job {item['job_id']}: {item['answer']}", file=sys.stderr)
        except (NotRegistered, RuntimeError) as error:
            print(f"worker: {error}", file=sys.stderr)
        with self.changed:
            self.jobs.pop(job.claimed["token"], None)
            self.changed.notify_all()

    def outcome_of(self, job):
        try:
            return {"outcome": "ok", "result": self.handlers[job.claimed["job_type"]](job)}
        except Cancelled:
            return {"outcome": "cancelled"}
        except Permanent as error:
            return {"outcome": "permanent", "error": described("permanent", error)}
        except Retry as error:
            outcome = {"outcome": "retry", "error": described("retry", error)}
            if error.after_seconds is not None:
                outcome["retry_after_seconds"] = error.after_seconds
            return outcome
        except Exception as error:  # A bug of the handler: the queue's policy decides.
            return {"outcome": "retry", "error": described(type(error).__name__, error)}

    def beat(self):
        while not self.left.wait(self.lease_seconds / 3):
            with self.lock:
                alive = {"running": len(self.jobs), "draining": self.stopping.is_set()}
            try:
                answer = self.api.post("extend", {**self.key, **alive}, timeout=10)
                self.cancel(answer["cancel"])
            except NotRegistered:
                pass  # The next claim begins anew.
            except (OSError, ValueError, RuntimeError) as error:
                print(f"worker: {error}", file=sys.stderr)

    def cancel(self, requests):
        with self.lock:
            for request in requests:
                if request["token"] in self.jobs:
                    self.jobs[request["token"]].stopped.set()

    def start_anew(self):
        """Declared dead, perhaps after a long pause. Jobs that run are others' now."""
        with self.lock:
            for job in self.jobs.values():
                job.stopped.set()
        self.register()

    def wait_for_a_slot(self):
        with self.changed:
            while len(self.jobs) >= self.slots and not self.stopping.is_set():
                self.changed.wait(1)

    def drain(self, seconds=30):
        """Lets jobs end; what is left goes back without charge."""
        until = time.monotonic() + seconds
        with self.changed:
            while self.jobs and time.monotonic() < until:
                self.changed.wait(0.2)
        self.left.set()
        answer = self.call("deregister", {})
        print(f"worker: left; {answer['handed_back']} jobs went back", file=sys.stderr, flush=True)


def described(kind, error):
    return {"error_type": kind, "message": str(error)[:8000]}


def main():
    token = os.environ.get("MILLRACE_TOKEN")
    if not token:
        sys.exit("worker: MILLRACE_TOKEN is not set; see the top of this file")
    worker = Worker(
        Api(os.environ.get("MILLRACE_URL", "http://127.0.0.1:8080"), token),
        HANDLERS,
        os.environ.get("MILLRACE_QUEUES", "default").split(","),
        int(os.environ.get("MILLRACE_SLOTS", "4")),
        int(os.environ.get("MILLRACE_LEASE_SECONDS", "30")),
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: worker.stopping.set())
    worker.run()


if __name__ == "__main__":
    main()
