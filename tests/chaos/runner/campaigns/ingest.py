"""Ingest: hundreds of documents, embedded by a stand-in that counts what it was paid for, while workers, readers and the database are killed; then many are parsed again with another text."""
import concurrent.futures
import json
import time
import urllib.request

from ..documents import Document, DocumentDeployment
from .documents import Campaign, finish_run, start_counting, strike

BATCH = 8
PIPELINE = f"""
name = "ingest"
version = "2.0.0"
[[queue]]
name = "ingest"
max_attempts = 12
""" + "".join(f"""
[[stage]]
name = "ingest_{name}"
run = "{run}"
queue = "ingest"
{more}
""" for name, run, more in (("document", "parse", ""), ("validate", "validate", ""), ("chunk", "chunk", "options = { max_tokens = 512, target_tokens = 300 }"),
                            ("embed", "embed", f'provider = "openai"\ncall_timeout = "5s"\noptions = {{ batch_max = {BATCH} }}'), ("publish", "publish", "")))


def report(number, version, sections):
    """A text of its own: a word in each section that is nowhere else."""
    marks = [f"Mark{number:05d}v{version}x{i}" for i in range(1, sections + 1)]
    body = "".join(f"## Part {mark}\n\nThe race of {mark} falls by {i % 7 + 1} metres and drives the wheel of {mark}. Below the wheel the water of {mark} runs free, "
                   f"and the miller closes the gate at night.\n\n" for i, mark in enumerate(marks))
    return Document(f"report-{number}.md", f"# Report {number} {version}\n\n{body}".encode(), marks, "completed")


def swap(deployment, file, other):
    """The file has other content from now on, as after a correction; it is parsed again."""
    deployment.sql(f"update millrace.shell_files f set sha256 = o.sha256, size_bytes = o.size_bytes from millrace.shell_files o where f.id = '{file}' and o.id = '{other}'")
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            status, body = deployment.ask("POST", f"/api/v1/documents/{file}/retry", b"", {"Content-Type": "application/json"})
        except OSError:
            status, body = 0, b""
        if status in (200, 202, 409):  # Busy: it was begun, and the answer was lost.
            return
        time.sleep(0.2)
    raise RuntimeError(f"retry of {file}: {status} {body[:200]!r}")


def disturb(stage, deployment, workers, work, struck):
    """Kills something every so often until the work is done and no document is left."""
    counts, random = stage.counts, stage.random
    began = time.monotonic()
    next_at = began + counts["every_s"]
    while not all(one.done() for one in work) or deployment.left() > 0:
        if time.monotonic() - began > counts["patience_s"]:
            break
        if time.monotonic() >= next_at:
            how = strike(deployment, workers, random)
            struck[how] = struck.get(how, 0) + 1
            next_at = time.monotonic() + counts["every_s"]
        stage.progress(len(deployment.sent) - deployment.left(), len(deployment.sent), f"ended, {sum(n for how, n in struck.items() if how != 'nobody')} kills")
        time.sleep(0.2)
    for one in work:
        one.result()


def kills(stage):
    counts, random = stage.counts, stage.random
    with stage.world() as world:
        process, url = start_counting(world)
        try:
            env = {"MILLRACE_OPENAI_BASE_URL": url + "/v1", "OPENAI_API_KEY": "k", "MILLRACE_OPENAI_ALLOW_HTTP": "true",
                   "MILLRACE_OPENAI_EMBED_MODEL": "stand-in-embed", "MILLRACE_OPENAI_PRICE_EMBED": "1.00"}
            deployment = DocumentDeployment(stage, world, env, {"ingest.toml": PIPELINE})
            # Documents by the hundred: the default of 60 requests a minute would be all that is measured.
            deployment.sql("insert into millrace.api_rate_limits (provider_name, api_endpoint) values ('openai', 'stand-in-embed') on conflict do nothing")
            deployment.sql("""select millrace.set_limit('openai', 'stand-in-embed', '{"requests_per_minute": 6000}')""")
            deployment.sql("""select millrace.set_queue('ingest', '{"max_attempts": 12, "backoff_base": "100ms", "backoff_cap": "2s"}')""")
            workers = [deployment.worker() for _ in range(2)]
            began, struck = time.monotonic(), {}
            with concurrent.futures.ThreadPoolExecutor(8) as clients:
                first = [report(i, 1, random.choice((2, 5, 12))) for i in range(counts["documents"])]
                uploads = [clients.submit(deployment.upload, document, "ingest") for document in first]
                disturb(stage, deployment, workers, uploads, struck)
                # Another text for some of them, shorter or longer.
                changed = dict(zip((upload.result() for upload in uploads[:counts["again"]]), (report(i, 2, random.choice((1, 3, 14))) for i in range(counts["again"]))))
                others = {file: clients.submit(deployment.upload, document, "ingest") for file, document in changed.items()}
                disturb(stage, deployment, workers, list(others.values()), struck)
                swaps = [clients.submit(swap, deployment, file, other.result()) for file, other in others.items()]
                disturb(stage, deployment, workers, swaps, struck)
            deployment.sent = [s._replace(document=changed[s.id]) if s.id in changed else s for s in deployment.sent]
            verdict = finish_run(stage, deployment, began, 120, {"kills": struck, "parsed_again": len(changed)})
            judge(verdict, deployment, url)
            for worker in workers:
                worker.terminate(60)
            left = deployment.leftovers()
            verdict.check("P5", "no reader outlived its worker", left == 0, f"{left} left")
            return verdict
        finally:
            process.kill()
            process.wait()


def judge(verdict, deployment, url):
    check = verdict.check
    states = json.loads(deployment.sql("select coalesce(json_object_agg(id, status), '{}') from millrace.shell_files"))
    wrong = [f"{s.document.name} is {states.get(s.id)}" for s in deployment.sent if states.get(s.id) != "completed"]
    check("P1", "every document is published", not wrong and len(states) == len(deployment.sent), f"{len(deployment.sent)} documents; {'; '.join(wrong[:5]) or 'none wrong'}")
    texts = json.loads(deployment.sql("""select coalesce(json_object_agg(document_id, t), '{}') from (
        select document_id, string_agg(text, '' order by chunk_ord) as t from millrace.document_chunks join millrace.generation using (generation_id) where state = 'published' group by document_id) x"""))
    stale, missing, differs = [], [], []
    for s in deployment.sent:
        text = texts.get(s.id, "")
        missing += [mark for mark in s.document.pages if mark not in text]
        known = set(s.document.pages)
        stale += [word for word in text.replace(".", " ").split() if word.startswith("Mark") and word not in known]
        status, body = deployment.ask("GET", f"/api/v1/documents/{s.id}/outputs/markdown")
        if status != 200 or body.decode() != text:
            differs.append(s.document.name)
    check("F07", "no chunk is missing", not missing, f"{len(missing)} of {sum(len(s.document.pages) for s in deployment.sent)} marks missing {missing[:3]}")
    check("F07", "no chunk is stale", not stale, f"{len(stale)} stale {stale[:3]}")
    check("B-25", "the chunks of a document are its text", not differs, f"{len(differs)} differ {differs[:3]}")
    odd = deployment.number("""select count(*) from millrace.document_chunks c join millrace.generation g using (generation_id) where (g.state <> 'published' and g.chunks_placed = 0) or c.embed_model <> g.embed_model
        or cardinality(c.embedding::real[]) <> 64""")
    check("G07", "every chunk is of the published generation and has one vector of its model", odd == 0, f"{odd} odd")
    left = deployment.number("select (select count(*) from millrace.document_chunk_buffer) + (select count(*) from millrace.document_vector_buffer)")
    check("B-22", "buffers are empty", left == 0, f"{left} rows left")
    with urllib.request.urlopen(url + "/control/state") as answer:
        paid = json.load(answer)["embedded"]
    calls = json.loads(deployment.sql("select coalesce(json_object_agg(state, n), '{}') from (select state, count(*) n from millrace.provider_call group by 1) x"))
    lost = calls.get("sent", 0) + calls.get("unknown", 0)
    extra = paid["texts_paid"] - paid["texts"]
    verdict.figures |= {"chunks": deployment.number("select count(*) from millrace.document_chunks join millrace.generation using (generation_id) where state = 'published'"), "paid": paid, "intents": calls, "paid_again": extra}
    check("F08", "every call that was charged had its intent on record", paid["calls"] <= sum(calls.values()), f"{paid['calls']} charged, {sum(calls.values())} intents")
    check("F08", "a text is paid for again only with a batch that was lost", extra <= BATCH * lost, f"{extra} texts again, {lost} batches lost")
    most = deployment.number("""select coalesce(max(n), 0) from (select job_id, count(*) n from millrace.provider_call where state in ('sent', 'unknown') group by 1) x""")
    check("F08", "no text more often than its document lost a batch", paid["times_max"] <= 1 + most, f"at most {paid['times_max']} times, {most} losses of one document")
    exact = deployment.sql("""select bool_and(s.spent_micros = (select coalesce(sum(cost_micros), 0) from millrace.provider_call)
        and s.reserved_micros = (select coalesce(sum(reserved_micros), 0) from millrace.provider_call where state in ('sent', 'unknown'))) from millrace.provider_spend s""")
    check("E08", "the money adds up", exact in ("t", "true"), f"{exact}")
    broken = deployment.number("select count(*) from millrace.queue_counts() c where c.enqueued <> c.completed + c.failed + c.cancelled + c.live or c.live <> 0")
    check("P1", "the account is exact, and nothing lives", broken == 0, f"{broken} queues off")
    check("P5", "nothing was taken for poison", deployment.number("select count(*) from millrace.quarantine") == 0, "no quarantine")


killed = Campaign({"short": {"documents": 14, "again": 4, "every_s": 1, "patience_s": 90},
                   "long": {"documents": 500, "again": 100, "every_s": 2, "patience_s": 1500},
                   "release": {"documents": 2000, "again": 500, "every_s": 2, "patience_s": 7200}}, kills)
