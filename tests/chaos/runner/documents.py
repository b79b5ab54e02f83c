"""DocumentDeployment: the server, workers that read documents, blobs in a folder, and clients that send small documents and look what became of them.

    deployment = DocumentDeployment(stage, world, env={...}, pipelines={"paid.toml": text})
    deployment.worker()                        a process `millrace worker`, keeper too; restart() of what it returns starts it again
    id = deployment.upload(document)           as often as it takes, under one idempotency key; Document: name, content, words of each page, expected state
    deployment.wait(seconds)                   until every document has ended; False when some have not
    deployment.judge(verdict)                  states, pages, audit and books, as the database has them, and the text of every document as its client gets it
"""
import collections
import http.client
import json
import pathlib
import subprocess
import time
import urllib.parse
import uuid

from nemesis.guard import descendants
from nemesis.postgres import Postgres

SECRET = "a secret for the campaigns with documents, long enough"
DRUGS = ("Metformin", "Aspirin", "Ibuprofen", "Warfarin", "Insulin", "Ramipril", "Atorvastatin")

Document = collections.namedtuple("Document", "name content pages expected")
Sent = collections.namedtuple("Sent", "id document")


def made_pdf(pages):
    """A PDF with a text layer; pages are lists of lines."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>",
               b"<< /Type /Pages /Count %d /Kids [ %s ] >>" % (len(pages), b" ".join(b"%d 0 R" % (4 + 2 * i) for i in range(len(pages)))),
               b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"]
    for i, lines in enumerate(pages):
        text = b"BT /F1 11 Tf 60 780 Td 16 TL\n" + b"".join(b"(%s) Tj T*\n" % line.encode() for line in lines) + b"ET\n"
        objects.append(b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>" % (5 + 2 * i))
        objects.append(b"<< /Length %d >>\nstream\n%sendstream" % (len(text), text))
    out, table = b"%PDF-1.4\n", b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for number, body in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    return out + table + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(out))


def letter(number, pages, random):
    """A document of its own: a word on each page that is on no other."""
    marks = [f"Mark{number:05d}x{page}" for page in range(1, pages + 1)]
    content = made_pdf([["Calder Valley Medical Centre", f"Reference {mark}", "Diagnoses", "Hypertension", "Medications",
                         f"{random.choice(DRUGS)} {random.choice((5, 20, 100, 500))} mg twice daily", "Yours sincerely, Dr Quayle"] for mark in marks])
    return Document(f"letter-{number}.pdf", content, marks, "completed")


def scans(build, folder, count, seed):
    """Pictures of pages, which have to be read by OCR; what they say is not compared."""
    subprocess.run([build / "millrace-samples", "set", "--only", "clean", "--count", str(count), "--seed", str(seed % 100_000), "--out", folder], check=True, capture_output=True)
    truth = json.loads((folder / "truth.json").read_text())
    return [Document(f["file"], (folder / f["file"]).read_bytes(), [None] * len(f["pages"]), f["expected_state"]) for f in truth["files"]]


class DocumentDeployment:
    def __init__(self, stage, world, env=None, pipelines=None):
        self.stage, self.world, self.sent, self._workers = stage, world, [], 0
        self.database = Postgres(world, name="db").start()
        world.run([world.program("millrace"), "--database-url", self.database.url(), "migrate", "up", "--create-client-roles"])
        folder = world.dir / "pipelines"
        folder.mkdir()
        for name, text in (pipelines or {}).items():
            (folder / name).write_text(text)
        self.env = {"DATABASE_URL": self.database.url(), "MILLRACE_STORAGE_FOLDER": str(world.dir / "blobs"), "MILLRACE_AUTH_JWT_SECRET": SECRET,
                    "MILLRACE_SERVER_REQUESTS_PER_MINUTE": "0", "MILLRACE_SERVER_REFUSALS_PER_MINUTE": "0", "MILLRACE_KEEPER_ENABLED": "false",
                    "MILLRACE_DOCUMENTS_SCRATCH_DIR": str(world.dir / "scratch"), "MILLRACE_DOCUMENTS_CHILDREN_MAX": "2"}
        if pipelines:
            self.env["MILLRACE_PIPELINE_DIR"] = str(folder)
        self.env |= env or {}
        ready = world.dir / "server.json"
        self.server = world.processes.start("server", [world.program("millrace"), "serve", "--listen", "127.0.0.1:0", "--ready-file", ready], env=self.env, ready_file=ready)
        self._address = urllib.parse.urlsplit(json.loads(ready.read_text())["http_url"]).netloc
        self._token = world.run([world.program("millrace"), "token", "create", "--role", "authenticated", "--user", uuid.uuid4(), "--ttl", "12h"],
                                env=world.processes.environment(self.env)).strip()

    def worker(self, slots=4, lease="2s"):
        self._workers += 1
        name = f"worker{self._workers}"
        ready = self.world.dir / f"{name}.json"
        argv = [self.world.program("millrace"), "worker", "--slots", slots, "--lease", lease, "--id", name, "--ready-file", ready]
        return self.world.processes.start(name, argv, env=self.env | {"MILLRACE_KEEPER_ENABLED": "true"}, ready_file=ready)

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection(self._address, timeout=60)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {self._token}"} | (headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def upload(self, document, pipeline=None, patience=120):
        """As clients do: the same key until there is an answer."""
        key, until = str(uuid.uuid4()), time.monotonic() + patience
        path = "/api/v1/uploads?" + urllib.parse.urlencode({"file_name": document.name} | ({"pipeline": pipeline} if pipeline else {}))
        while True:
            try:
                status, body = self.ask("POST", path, document.content, {"Idempotency-Key": key, "Content-Type": "application/octet-stream"})
            except OSError as error:
                status, body = 0, str(error).encode()
            except http.client.HTTPException as error:
                status, body = 0, str(error).encode()
            if status in (200, 201):
                self.sent.append(Sent(json.loads(body)["id"], document))
                return self.sent[-1].id
            if status not in (0, 409, 425, 429) and status < 500 or time.monotonic() > until:
                raise RuntimeError(f"upload of {document.name}: {status} {body[:300]!r}")
            time.sleep(0.2)

    def sql(self, text):
        return self.database.sql(text)

    def number(self, text):
        return int(self.sql(text) or 0)

    def left(self):
        return self.number("select count(*) from millrace.shell_files where status in ('uploaded', 'processing')")

    def wait(self, seconds):
        until = time.monotonic() + seconds
        while (left := self.left()) > 0:
            self.stage.progress(len(self.sent) - left, len(self.sent), "ended")
            if time.monotonic() > until:
                return False
            time.sleep(0.5)
        return True

    def readers(self, process):
        """The warm reader of a worker, and its children at this moment."""
        return descendants(process.pid) if process.alive else []

    def judge(self, verdict):
        check = verdict.check
        states = json.loads(self.sql("select coalesce(json_object_agg(id, status), '{}') from millrace.shell_files"))
        wrong = [f"{s.document.name} is {states.get(s.id)}, not {s.document.expected}" for s in self.sent if states.get(s.id) != s.document.expected]
        check("P1", "every document has ended, as it should", not wrong and len(states) == len(self.sent), f"{len(self.sent)} documents; {'; '.join(wrong[:5]) or 'none wrong'}")
        good = [s for s in self.sent if s.document.expected == "completed"]
        pages = sum(len(s.document.pages) for s in good)
        odd = self.number("""select count(*) from millrace.page p join millrace.document d using (file_id) where d.state = 'completed' and (p.state <> 'completed'
            or (select count(*) from millrace.page_result r where r.file_id = p.file_id and r.page = p.page) <> 4)""")
        check("P2", "every page has one result of each stage", odd == 0 and self.number("select count(*) from millrace.page") >= pages, f"{pages} pages, {odd} odd")
        twice = self.number("""select count(*) from (select record_id from millrace.audit where action = 'page_written' group by record_id having count(*) > 1) x""")
        check("P3", "no page was written twice", twice == 0, f"{twice} twice")
        gaps = self.number("""select (select count(*) from millrace.page_result r join millrace.shell_files f on f.id = r.file_id where not exists (
              select from millrace.audit a where a.patient_id = f.patient_id and (a.record_id in (r.file_id || '/' || r.page || '/' || r.stage, r.file_id || '/' || r.stage)
                or (r.page = 0 and a.record_id = r.file_id::text))))
            + (select count(*) from millrace.clinical_fact c where not exists (
              select from millrace.audit a where a.patient_id = c.patient_id and a.record_id like c.file_id || '/' || c.page || '/%'))
            + (select count(*) from millrace.document_output o join millrace.shell_files f on f.id = o.file_id where not exists (
              select from millrace.audit a where a.patient_id = f.patient_id and a.job_ids @> array[o.job_id]))""")
        check("P9", "every clinical write has its audit row, with the patient", gaps == 0, f"{gaps} without")
        broken = self.number("select count(*) from millrace.queue_counts() c where c.enqueued <> c.completed + c.failed + c.cancelled + c.live or c.live <> 0")
        check("P1", "the account is exact, and nothing lives", broken == 0, f"{broken} queues off")
        check("P5", "nothing was taken for poison", self.number("select count(*) from millrace.quarantine") == 0, "no quarantine")
        missing = [s.document.name for s in good if any(mark is not None for mark in s.document.pages) and not self._says(s)]
        check("P1", "every text has every page's own word, in order", not missing, f"{len(missing)} wrong {missing[:3]}")
        verdict.figures["charged"] = json.loads(self.sql("select coalesce(json_object_agg(outcome, n), '{}') from (select outcome, count(*) n from millrace.attempt where charged group by 1) x"))

    def _says(self, sent):
        status, body = self.ask("GET", f"/api/v1/documents/{sent.id}/outputs/text")
        at = 0
        for mark in sent.document.pages:
            at = body.find(mark.encode(), at)
            if status != 200 or at < 0:
                return False
        return True

    def leftovers(self):
        """Readers that outlived their workers."""
        mine, found = str(self.world.program("millrace-document")), 0
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and (entry / "cmdline").read_bytes().split(b"\0")[0].decode() == mine and \
                        f"{self.world.dir}" in (entry / "environ").read_bytes().decode(errors="replace"):
                    found += 1
            except OSError:
                continue
        return found
