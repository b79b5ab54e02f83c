"""Documents: small ones, by the hundred, while workers, readers and the database are killed; by many clients at once; with a provider that misbehaves."""
import concurrent.futures
import json
import os
import signal
import subprocess
import time

from proof.verdict import Verdict

from ..documents import DocumentDeployment, letter, scans


class Campaign:
    def __init__(self, counts, run, alone=True):
        self.COUNTS, self._run, self.ALONE = counts, run, alone

    def run(self, stage):
        stage.directory.mkdir(parents=True, exist_ok=True)
        return self._run(stage)


def finish_run(stage, deployment, began, patience, figures):
    ended = deployment.wait(patience)
    seconds = time.monotonic() - began
    verdict = Verdict()
    verdict.figures |= figures | {"documents": len(deployment.sent), "seconds": round(seconds, 1), "documents_per_s": round(len(deployment.sent) / seconds, 2)}
    verdict.check("P5", "nothing is stuck", ended, f"after {seconds:.0f} s" if ended else f"{deployment.left()} documents have not ended")
    if not ended:
        print(deployment.sql("""select string_agg(concat_ws(' ', d.file_id, d.state, d.stage, p.place, p.status, p.attempt, b.total, b.completed, b.failed), E'\\n')
            from millrace.document d left join millrace.batch b using (batch_id) left join millrace.job_place p on p.job_id = coalesce(b.callback_job_id, d.job_id)
           where d.state = 'processing'"""), flush=True)
    return verdict


def finish(stage, deployment, began, patience, figures):
    verdict = finish_run(stage, deployment, began, patience, figures)
    deployment.judge(verdict)
    return verdict


def strike(deployment, workers, random):
    """Kills something; what it was."""
    how = random.choice(("worker", "reader", "child", "database"))
    victim = random.randrange(len(workers))
    if how == "worker":
        workers[victim].kill()
        workers[victim].restart()
    elif how == "database":
        deployment.database.crash(children_too=random.random() < 0.5)
        deployment.database.restart()
    else:
        below = deployment.readers(workers[victim])
        met = 0
        for pid in (below[:1] if how == "reader" else below[1:]):
            try:
                os.kill(pid, signal.SIGKILL)
                met += 1
            except ProcessLookupError:
                pass
        how = how if met > 0 else "nobody"
    return how


def kills(stage):
    counts, random = stage.counts, stage.random
    with stage.world() as world:
        deployment = DocumentDeployment(stage, world)
        workers = [deployment.worker() for _ in range(2)]
        pictures = scans(world.build, world.dir / "samples", counts["scans"], stage.options.seed) if counts["scans"] else []
        documents = [letter(i, random.choice((1, 1, 2, 3)), random) for i in range(counts["documents"] - len(pictures))] + pictures
        random.shuffle(documents)
        began, struck, next_at = time.monotonic(), {}, time.monotonic() + counts["every_s"]
        with concurrent.futures.ThreadPoolExecutor(8) as clients:
            uploads = [clients.submit(deployment.upload, document) for document in documents]
            while not all(upload.done() for upload in uploads) or deployment.left() > 0:
                if time.monotonic() - began > counts["patience_s"]:
                    break
                if time.monotonic() >= next_at:
                    how = strike(deployment, workers, random)
                    struck[how] = struck.get(how, 0) + 1
                    next_at = time.monotonic() + counts["every_s"]
                stage.progress(len(deployment.sent) - deployment.left(), len(documents), f"ended, {sum(n for how, n in struck.items() if how != 'nobody')} kills")
                time.sleep(0.2)
            for upload in uploads:
                upload.result()
        verdict = finish(stage, deployment, began, 120, {"kills": struck})
        for worker in workers:
            worker.terminate(60)
        left = deployment.leftovers()
        verdict.check("P5", "no reader outlived its worker", left == 0, f"{left} left")
        return verdict


def load(stage):
    counts, random = stage.counts, stage.random
    with stage.world() as world:
        deployment = DocumentDeployment(stage, world)
        workers = [deployment.worker(slots=6, lease="10s") for _ in range(2)]
        documents = [letter(i, 2 if i % 5 == 0 else 1, random) for i in range(counts["documents"])]
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(counts["clients"]) as clients:
            list(clients.map(deployment.upload, documents))
        uploaded = time.monotonic() - began
        verdict = finish(stage, deployment, began, counts["patience_s"], {"clients": counts["clients"], "uploaded_s": round(uploaded, 1)})
        for worker in workers:
            worker.terminate(60)
        return verdict


PAID = """
name = "paid"
version = "1.0.0"
[[queue]]
name = "paid"
max_attempts = 12
backoff_base = "100ms"
backoff_factor = 2
backoff_cap = "2s"
""" + "".join(f"""
[[stage]]
name = "paid_{name}"
run = "{run}"
queue = "paid"
{'provider = "openai"' if paid else ''}
{'timeout = "30s"' if paid else ''}
{'call_timeout = "3s"' if paid else ''}
""" for name, run, paid in (("scan", "scan", 0), ("read", "ocr", 0), ("map", "spatial", 0), ("pass1", "detect", 1), ("pass2", "extract", 1), ("pass3", "narrate", 1)))
RATES = {"throttle": 0.04, "throttle_bare": 0.02, "overloaded": 0.04, "unavailable": 0.03, "server_error": 0.03, "gateway": 0.02, "cut": 0.03,
         "reset_before": 0.03, "reset_after": 0.02, "stall": 0.01, "bad_text": 0.02, "wrong_json": 0.01}
WINDOW_S, REQUESTS, AT_ONCE = 2, 60, 4


def start_stand_in(world, seed):
    # Calls in flight may arrive in the window after the one they were granted in: no more than these.
    settings = {"keys": {"k": {"requests": REQUESTS + AT_ONCE, "concurrency": AT_ONCE}}, "window_ms": WINDOW_S * 1000,
                "random": {"seed": seed % 1_000_000, "rates": RATES, "latency_ms": [5, 60]}}
    process = subprocess.Popen([world.program("provider_stand_in"), "0", json.dumps(settings)], stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().split()[-1]


def start_counting(world):
    """One that keeps no limits and fails nobody: what was paid for is all that counts."""
    process = subprocess.Popen([world.program("provider_stand_in"), "0", json.dumps({"keys": {"k": {}}})], stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().split()[-1]


def provider(stage):
    counts, random = stage.counts, stage.random
    with stage.world() as world:
        process, url = start_stand_in(world, stage.options.seed)
        try:
            env = {"MILLRACE_OPENAI_BASE_URL": url + "/v1", "OPENAI_API_KEY": "k", "MILLRACE_OPENAI_ALLOW_HTTP": "true", "MILLRACE_OPENAI_MODEL": "stand-in",
                   "MILLRACE_OPENAI_PRICE_INPUT": "1.00", "MILLRACE_OPENAI_PRICE_OUTPUT": "2.00"}
            deployment = DocumentDeployment(stage, world, env, {"paid.toml": PAID})
            limits = {"concurrent_requests": AT_ONCE, "requests_per_minute": REQUESTS, "minute_window": f"{WINDOW_S} seconds", "breaker_cooldown": "500 milliseconds"}
            deployment.sql(f"select millrace.set_limit('openai', 'stand-in', '{json.dumps(limits)}')")
            workers = [deployment.worker() for _ in range(2)]
            began = time.monotonic()
            with concurrent.futures.ThreadPoolExecutor(8) as clients:
                list(clients.map(lambda i: deployment.upload(letter(i, 2, random), "paid"), range(counts["documents"])))
            verdict = finish_run(stage, deployment, began, counts["patience_s"], {})
            expect_reviews(deployment)
            deployment.judge(verdict)
            for worker in workers:
                worker.terminate(60)
            judge_provider(verdict, deployment, url)
            return verdict
        finally:
            process.kill()
            process.wait()


def expect_reviews(deployment):
    """By the calls on record: an answer that came whole and was nonsense costs its page, or the narrative, and nothing else."""
    lost = json.loads(deployment.sql("""select coalesce(json_object_agg(x.file_id, case when x.pages = d.page_count then 'failed' else 'partial' end), '{}')
        from (select (j.payload ->> 'shell_file_id')::uuid as file_id, count(distinct j.payload ->> 'page') as pages from millrace.provider_call c join millrace.job_fact j using (job_id)
               where c.state = 'answered' and c.error is not null group by 1) x join millrace.document d using (file_id)"""))
    deployment.sent = [s._replace(document=s.document._replace(expected=lost.get(s.id, s.document.expected))) for s in deployment.sent]


def judge_provider(verdict, deployment, url):
    import urllib.request
    with urllib.request.urlopen(url + "/control/state") as answer:
        state = json.load(answer)
    use = state["keys"]["k"]
    verdict.figures |= {"requests": state["requests"], "actions": state["actions"], "window_requests_max": use["window_requests_max"], "open_max": use["open_max"]}
    verdict.check("P7", "the provider never had to refuse for its limits", use["refused"] == 0, f"{state['requests']} requests, {use['refused']} refused")
    verdict.check("P7", "no more calls at once than allowed", use["open_max"] <= AT_ONCE, f"at most {use['open_max']}")
    charged = deployment.number("select count(*) from millrace.attempt where charged and outcome in ('throttled', 'blocked')")
    verdict.check("R", "throttling costs no attempt", charged == 0, f"{charged} charged")
    open_calls = deployment.number("select count(*) from millrace.provider_call where state = 'sent'")
    verdict.check("F08", "every call has its end on record", open_calls == 0, f"{open_calls} without")
    nonsense = state["actions"].get("bad_text", 0)
    refused = deployment.number("select count(*) from millrace.provider_call where state = 'answered' and error = 'invalid_answer'")
    shown = deployment.number("""select (select count(*) from millrace.page where state = 'failed' and failed_reason = 'invalid_answer')
        + (select count(*) from millrace.paid_answer where page = 0 and refused is not null)""")
    evidence = deployment.number("select count(*) from millrace.paid_answer where refused is not null")
    verdict.check("G", "every answer that was nonsense is for a person, with its evidence", nonsense == refused == shown == evidence,
                  f"{nonsense} said, {refused} on record, {shown} for review, {evidence} kept")
    again = deployment.number("""select count(*) from millrace.provider_call c join millrace.provider_call o on o.job_id = c.job_id and o.started_at > c.ended_at
        where c.error = 'invalid_answer'""")
    verdict.check("F08", "nobody was paid for asking again", again == 0, f"{again} asked again")
    twice = deployment.number("select count(*) from (select from millrace.provider_call where state = 'answered' group by job_id, request_sha256 having count(*) > 1) x")
    verdict.check("F08", "no question was answered twice", twice == 0, f"{twice} twice")
    exact = deployment.sql("""select s.spent_micros = (select coalesce(sum(cost_micros), 0) from millrace.provider_call)
        and s.reserved_micros = (select coalesce(sum(reserved_micros), 0) from millrace.provider_call where state = 'unknown') from millrace.provider_spend s""")
    verdict.check("E08", "the money adds up", exact in ("t", "true"), f"{exact}")


killed = Campaign({"short": {"documents": 14, "scans": 2, "every_s": 1, "patience_s": 90},
                   "long": {"documents": 200, "scans": 20, "every_s": 2, "patience_s": 1500},
                   "release": {"documents": 1000, "scans": 100, "every_s": 2, "patience_s": 7200}}, kills)
crowd = Campaign({"short": {"documents": 40, "clients": 20, "patience_s": 120},
                  "long": {"documents": 1000, "clients": 100, "patience_s": 1500},
                  "release": {"documents": 10_000, "clients": 100, "patience_s": 14_400}}, load)
paid = Campaign({"short": {"documents": 6, "patience_s": 120},
                 "long": {"documents": 80, "patience_s": 900},
                 "release": {"documents": 800, "patience_s": 7200}}, provider)
