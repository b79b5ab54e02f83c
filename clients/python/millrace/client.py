"""Client: what producers and operators do, by noun."""
from __future__ import annotations

import os
import ssl
import time
import uuid
from pathlib import Path
from typing import IO, Any, Callable, Iterable, Iterator, Mapping

from .errors import Problem, WaitTimeout
from .events import Event
from .transport import Request, Settings, Transport, quote

FINAL = frozenset({"completed", "failed", "cancelled"})
DOCUMENT_ENDED = frozenset({"completed", "partial", "failed", "rejected"})
Json = dict[str, Any]


class Client:
    """`token` is a JWT or an API key, or a function that gives one and is asked before every request."""

    def __init__(self, base_url: str, token: str | Callable[[], str] | None = None, *, tenant: str | None = None, timeout: float = 60.0, retries: int = 4,
                 ssl_context: ssl.SSLContext | None = None, retry_base: float = 0.2, retry_max: float = 20.0):
        self.transport = Transport(Settings(base_url, token, tenant, timeout, retries, retry_base, retry_max, ssl_context))
        self.jobs = Jobs(self.transport)
        self.batches = Batches(self.transport)
        self.queues = Queues(self.transport)
        self.uploads = Uploads(self.transport)
        self.documents = Documents(self.transport)
        self.search = Search(self.transport)
        self.exports = Exports(self.transport)
        self.events = Events(self.transport)

    @classmethod
    def from_environment(cls, **options: Any) -> "Client":
        """MILLRACE_URL and MILLRACE_TOKEN."""
        return cls(os.environ["MILLRACE_URL"], os.environ.get("MILLRACE_TOKEN"), **options)

    def health(self) -> Json:
        """`status` is healthy, degraded or unavailable."""
        try:
            return self.transport.send(Request("GET", "/health")).json()
        except Problem as problem:
            if problem.status == 503:
                return {"status": "unavailable", "checks": {}}
            raise

    def close(self) -> None:
        self.transport.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Noun:
    def __init__(self, transport: Transport):
        self._transport = transport

    def _pages(self, path: str, query: Mapping[str, Any]) -> Iterator[Json]:
        cursor: str | None = None
        while True:
            page = self._transport.call("GET", path, query={**query, "cursor": cursor}).json()
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _wait(self, what: str, path: str, ended: Callable[[Json], bool], timeout: float | None, poll: float) -> Json:
        deadline = None if timeout is None else time.monotonic() + timeout
        pause, etag = poll, None
        while True:
            # With the ETag: an answer that has not changed costs a line.
            answer = self._transport.call("GET", path, headers={"If-None-Match": etag} if etag else None)
            if answer.status != 304:
                value = answer.json()
                if ended(value):
                    return value
                etag = answer.headers.get("etag")
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise WaitTimeout(f"{what} has not ended within {timeout} s")
            self._transport.settings.sleep(pause if left is None else min(pause, left))
            pause = min(pause * 1.5, poll * 10)


class Jobs(_Noun):
    def create(self, job_type: str, payload: Json, *, key: str | None = None, **options: Any) -> Json:
        """Enqueues a job, which is durable when this returns: {"job_id", "answer"}. `options` are further members of NewJob (queue, priority,
        delay_seconds, serial_key …). `key` makes it repeatable across processes; without one it has a key of its own, for its repeats."""
        job = {"job_type": job_type, "payload": payload, **options}
        return self._transport.call("POST", "/api/v1/jobs", body=job, key=key or str(uuid.uuid4())).json()

    def create_many(self, jobs: Iterable[Json], *, key: str | None = None) -> list[Json]:
        """Up to 1000 jobs, all or none, in order."""
        return self._transport.call("POST", "/api/v1/jobs/bulk", body=list(jobs), key=key or str(uuid.uuid4())).json()["items"]

    def get(self, job_id: str, *, detail: bool | None = None) -> Json:
        return self._transport.call("GET", f"/api/v1/jobs/{quote(job_id)}", query={"detail": detail}).json()

    def list(self, **filters: Any) -> Iterator[Json]:
        """Every job that fits (queue, job_type, status, batch_id, correlation_id, owner_id), newest first, page by page."""
        return self._pages("/api/v1/jobs", filters)

    def result(self, job_id: str) -> Json:
        return self._transport.call("GET", f"/api/v1/jobs/{quote(job_id)}/result").json()

    def logs(self, job_id: str) -> Iterator[Json]:
        return self._pages(f"/api/v1/jobs/{quote(job_id)}/logs", {})

    def cancel(self, job_id: str, reason: str | None = None) -> Json:
        body = {"reason": reason} if reason else {}
        return self._transport.call("POST", f"/api/v1/jobs/{quote(job_id)}/cancel", body=body).json()

    def retry(self, job_id: str, reason: str | None = None) -> Json:
        """A waiting job runs now, a failed one starts again."""
        body = {"reason": reason} if reason else {}
        return self._transport.call("POST", f"/api/v1/jobs/{quote(job_id)}/retry", body=body).json()

    def wait_for(self, job_id: str, *, timeout: float | None = None, poll: float = 0.1) -> Json:
        """The job once it is completed, failed or cancelled. WaitTimeout after `timeout` seconds."""
        return self._wait(f"job {job_id}", f"/api/v1/jobs/{quote(job_id)}", lambda job: job["status"] in FINAL, timeout, poll)


class Batches(_Noun):
    def create(self, jobs: Iterable[Json], *, key: str | None = None, **options: Any) -> Json:
        """Jobs that are counted together: {"batch_id"}. `options`: name, callback, callback_on."""
        body = {"jobs": list(jobs), **options}
        return self._transport.call("POST", "/api/v1/batches", body=body, key=key or str(uuid.uuid4())).json()

    def get(self, batch_id: str) -> Json:
        return self._transport.call("GET", f"/api/v1/batches/{quote(batch_id)}").json()

    def list(self) -> Iterator[Json]:
        return self._pages("/api/v1/batches", {})

    def wait_for(self, batch_id: str, *, timeout: float | None = None, poll: float = 0.1) -> Json:
        """The batch once all of its jobs have ended."""
        return self._wait(f"batch {batch_id}", f"/api/v1/batches/{quote(batch_id)}", lambda batch: bool(batch.get("finished_at")), timeout, poll)


class Queues(_Noun):
    def list(self) -> list[Json]:
        return self._transport.call("GET", "/api/v1/queues").json()["items"]

    def get(self, queue: str) -> Json:
        return self._transport.call("GET", f"/api/v1/queues/{quote(queue)}").json()

    def pause(self, queue: str, reason: str | None = None) -> Json:
        body = {"reason": reason} if reason else {}
        return self._transport.call("POST", f"/api/v1/queues/{quote(queue)}/pause", body=body).json()

    def resume(self, queue: str) -> Json:
        return self._transport.call("POST", f"/api/v1/queues/{quote(queue)}/resume").json()

    def scale(self, queue: str) -> Json:
        """{"demand", "oldest_age_s", "drain_s"} for scalers."""
        return self._transport.call("GET", f"/v1/scale/{quote(queue)}").json()["queues"][queue]


class Uploads(_Noun):
    def create(self, content: bytes | str | os.PathLike[str] | IO[bytes], *, file_name: str | None = None, content_type: str = "application/octet-stream",
               patient_id: str | None = None, owner_id: str | None = None, key: str | None = None) -> Json:
        """Uploads bytes, a file by its path, or an open binary file; it is streamed, whatever its size. The answer is the file, stored and with its
        first job enqueued. The same key and content give the same file, however often it is sent."""
        if isinstance(content, (str, os.PathLike)):
            with open(content, "rb") as file:
                return self.create(file, file_name=file_name or Path(content).name, content_type=content_type, patient_id=patient_id,
                                   owner_id=owner_id, key=key)
        if file_name is None:
            raise ValueError("file_name is missing")
        headers = {"Content-Type": content_type, "Idempotency-Key": key or str(uuid.uuid4())}
        if not isinstance(content, bytes) and content.seekable():
            headers["Content-Length"] = str(content.seek(0, os.SEEK_END))
            content.seek(0)
        query = {"file_name": file_name, "patient_id": patient_id, "owner_id": owner_id}
        return self._transport.send(Request("POST", "/api/v1/uploads", query, headers, content, repeatable=True)).json()

    def get(self, file_id: str) -> Json:
        return self._transport.call("GET", f"/api/v1/files/{quote(file_id)}").json()

    def list(self, **filters: Any) -> Iterator[Json]:
        return self._pages("/api/v1/files", filters)

    def content(self, file_id: str) -> bytes:
        """The whole content; for large files take link() and read it as you like."""
        return self._transport.call("GET", f"/api/v1/files/{quote(file_id)}/content").body

    def link(self, file_id: str, expires_in: int | None = None) -> Json:
        """{"url", "expires_at"}: opens the content for a while, without a token."""
        body = {} if expires_in is None else {"expires_in": expires_in}
        return self._transport.call("POST", f"/api/v1/files/{quote(file_id)}/link", body=body).json()

    def delete(self, file_id: str) -> None:
        self._transport.call("DELETE", f"/api/v1/files/{quote(file_id)}")


class Documents(_Noun):
    """What is made of uploaded files; a document has the id of its file."""

    def get(self, document_id: str) -> Json:
        return self._transport.call("GET", f"/api/v1/documents/{quote(document_id)}").json()

    def list(self, **filters: Any) -> Iterator[Json]:
        """Every document that fits (state, patient_id), newest first, page by page."""
        return self._pages("/api/v1/documents", filters)

    def pages(self, document_id: str) -> Iterator[Json]:
        return self._pages(f"/api/v1/documents/{quote(document_id)}/pages", {})

    def facts(self, document_id: str) -> Iterator[Json]:
        return self._pages(f"/api/v1/documents/{quote(document_id)}/facts", {})

    def output(self, document_id: str, kind: str, page: int | None = None) -> bytes:
        """The whole content of an output (text, words, hocr, alto, pdf, facts, facts_csv, fhir, narrative, manifest; image with a page). A Problem
        with status 409 while it may still be made. For large ones take link() and read it as you like."""
        return self._transport.call("GET", f"/api/v1/documents/{quote(document_id)}/outputs/{quote(kind)}", query={"page": page}).body

    def link(self, document_id: str, kind: str, page: int | None = None, expires_in: int | None = None) -> Json:
        """{"url", "expires_at"}: opens the output for a while, without a token."""
        body = {} if expires_in is None else {"expires_in": expires_in}
        path = f"/api/v1/documents/{quote(document_id)}/outputs/{quote(kind)}/link"
        return self._transport.call("POST", path, query={"page": page}, body=body).json()

    def ask_image(self, document_id: str, page: int) -> Json:
        """{"job_id"} that draws a picture of the page; null where it is there already."""
        return self._transport.call("POST", f"/api/v1/documents/{quote(document_id)}/pages/{page}/image").json()

    def retry(self, document_id: str) -> Json:
        """Begins one anew that has ended: {"id", "job_id", "run"}."""
        return self._transport.call("POST", f"/api/v1/documents/{quote(document_id)}/retry").json()

    def wait_for(self, document_id: str, *, timeout: float | None = None, poll: float = 0.2) -> Json:
        """The document once it is completed, partial, failed or rejected. WaitTimeout after `timeout` seconds."""
        return self._wait(f"document {document_id}", f"/api/v1/documents/{quote(document_id)}", lambda one: one["state"] in DOCUMENT_ENDED, timeout, poll)


class Search(_Noun):
    """Passages of ingested documents."""

    def __call__(self, query: str, *, limit: int = 10, documents: list[str] | None = None, mode: str = "hybrid", explain: bool = False) -> Json:
        """{"mode", "notice", "model", "passages"}: the best passages for a question, by words and meaning (hybrid), words (text) or meaning (vector).
        `mode` of the answer is what was done: without a model it is text, and `notice` says why. No documents ([]) have no passages; None: all."""
        body: Json = {"query": query, "limit": limit, "mode": mode, "explain": explain}
        if documents is not None:
            body["documents"] = documents
        return self._transport.call("POST", "/api/v1/search", body=body).json()


class Exports(_Noun):
    """Data and templates as PDFs, with the token of a user. Answers come without the envelope of these routes."""

    def templates(self) -> list[Json]:
        """Each with the JSON Schema of its data and a sample."""
        return self._data("GET", "/api/v1/export/templates")["items"]

    def create(self, title: str, data: Json, *, template: str = "minimal", key: str | None = None) -> Json:
        """Keeps a document: version 1. A Problem with status 400 names every place in the data that the template does not take, in `errors`."""
        body = {"title": title, "templateSlug": template, "data": data}
        return self._data("POST", "/api/v1/export/documents", body=body, key=key or str(uuid.uuid4()))

    def put(self, document_id: str, title: str, data: Json, *, template: str | None = None) -> Json:
        """Its next version, with the template that it has unless another one is named; the same content makes none."""
        if template is None:
            template = self.get(document_id)["templateSlug"]
        return self._data("PUT", f"/api/v1/export/documents/{quote(document_id)}", body={"title": title, "templateSlug": template, "data": data})

    def get(self, document_id: str, version: int | None = None) -> Json:
        return self._data("GET", f"/api/v1/export/documents/{quote(document_id)}", query={"version": version})

    def list(self) -> Iterator[Json]:
        """Own documents, newest first, without their data."""
        return self._data_pages("/api/v1/export/documents")

    def delete(self, document_id: str) -> None:
        self._transport.call("DELETE", f"/api/v1/export/documents/{quote(document_id)}")

    def order(self, document_id: str, *, key: str | None = None, template: str | None = None, **options: Any) -> str:
        """The job that exports it; `options` are pageSize, margins, quality, colorMode, language, preview."""
        return self._data("POST", "/api/v1/export/pdf", body=self._wish({"documentId": document_id}, template, options), key=key or str(uuid.uuid4()))["jobId"]

    def order_batch(self, document_ids: Iterable[str], *, key: str | None = None, template: str | None = None, **options: Any) -> Json:
        """Up to ten documents, all or none: {"batchId", "jobs"}."""
        body = self._wish({"documentIds": list(document_ids)}, template, options)
        return self._data("POST", "/api/v1/export/batch", body=body, key=key or str(uuid.uuid4()))

    def status(self, job_id: str) -> Json:
        """{"id", "status", "progress", "resultUrl", "error"}; the URL is good for an hour."""
        return self._data("GET", f"/api/v1/export/job/{quote(job_id)}")

    def cancel(self, job_id: str) -> None:
        self._transport.call("DELETE", f"/api/v1/export/job/{quote(job_id)}")

    def batch(self, batch_id: str) -> Json:
        return self._data("GET", f"/api/v1/export/batch/{quote(batch_id)}")

    def batch_files(self, batch_id: str, *, partial: bool | None = None) -> Json:
        """A link for each file, good for an hour."""
        return self._data("GET", f"/api/v1/export/batch/{quote(batch_id)}/files", query={"partial": partial})

    def history(self) -> Iterator[Json]:
        return self._data_pages("/api/v1/export/history")

    def wait_for(self, job_id: str, *, timeout: float | None = None, poll: float = 0.2) -> Json:
        """Its status once it has ended. WaitTimeout after `timeout` seconds."""
        path = f"/api/v1/export/job/{quote(job_id)}"
        return self._wait(f"export {job_id}", path, lambda answer: answer["data"]["status"] in FINAL, timeout, poll)["data"]

    @staticmethod
    def _wish(body: Json, template: str | None, options: Json) -> Json:
        if template is not None:
            body["templateSlug"] = template
        if options:
            body["options"] = options
        return body

    def _data(self, method: str, path: str, **call: Any) -> Any:
        return self._transport.call(method, path, **call).json()["data"]

    def _data_pages(self, path: str) -> Iterator[Json]:
        cursor: str | None = None
        while True:
            page = self._data("GET", path, query={"cursor": cursor})
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return


class Events(_Noun):
    """Live events. A stream resumes by itself when the connection breaks; to resume in another process, keep the id of the last event."""

    def job(self, job_id: str, **options: Any) -> Iterator[Event]:
        """Until the job has ended."""
        return self._transport.stream(f"/api/v1/jobs/{quote(job_id)}/events", **options)

    def batch(self, batch_id: str, **options: Any) -> Iterator[Event]:
        """Until the batch has ended."""
        return self._transport.stream(f"/api/v1/batches/{quote(batch_id)}/events", **options)

    def export_batch(self, batch_id: str, **options: Any) -> Iterator[Event]:
        """Until every export of it has ended; each event has the whole state."""
        return self._transport.stream(f"/api/v1/export/batch/{quote(batch_id)}/stream", **options)

    def queue(self, queue: str, **options: Any) -> Iterator[Event]:
        return self._transport.stream(f"/api/v1/queues/{quote(queue)}/events", **options)

    def all(self, **options: Any) -> Iterator[Event]:
        """Everything of the caller's tenant."""
        return self._transport.stream("/api/v1/events", **options)
