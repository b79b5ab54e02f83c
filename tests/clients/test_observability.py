"""Metrics, rules, dashboard and traces as an operator gets them: from the real program, and the files of deploy/.

Needs MILLRACE_PROGRAM. Requirements O-01 to O-11, H-18, H-19.
"""
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import unittest
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "clients" / "python")]
import plain_yaml  # noqa: E402
import promql  # noqa: E402
from millrace import Client  # noqa: E402
from world import World, eventually  # noqa: E402

SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?)|NaN|[+-]Inf)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)')


def rules_in(name):
    return [rule for group in plain_yaml.load((ROOT / "deploy" / "prometheus" / name).read_text())["groups"] for rule in group["rules"]]


def recorded():
    return {rule["record"] for rule in rules_in("rules.yml")}


def dashboard():
    return json.loads((ROOT / "deploy" / "grafana" / "millrace.json").read_text())


def expressions():
    """(where, expression) of everything that asks Prometheus something."""
    for name in ("rules.yml", "alerts.yml"):
        for rule in rules_in(name):
            yield f"{name} {rule.get('record') or rule['alert']}", promql.Expression(str(rule["expr"]))
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", []):
            yield f"dashboard: {panel['title']}", promql.Expression(target["expr"])


class Page:
    """A page of metrics, read strictly."""

    def __init__(self, text):
        self.kinds = {}
        self.samples = {}  # name: list of (labels, value)
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                assert name not in self.kinds, f"{name} has two TYPE lines"
                self.kinds[name] = kind
            elif not line.startswith("# HELP "):
                match = SAMPLE.fullmatch(line)
                assert match, f"not a sample: {line}"
                labels = dict(LABEL.findall(match.group(2) or ""))
                assert self.family(match.group(1)) in self.kinds, f"{match.group(1)} has no TYPE line before it"
                self.samples.setdefault(match.group(1), []).append((labels, float(match.group(3).replace("Inf", "inf"))))

    def family(self, name):
        for suffix in ("_bucket", "_sum", "_count"):
            if name.endswith(suffix) and self.kinds.get(name.removesuffix(suffix)) == "histogram":
                return name.removesuffix(suffix)
        return name

    def names(self):
        for name, kind in self.kinds.items():
            yield from [name + suffix for suffix in ("_bucket", "_sum", "_count")] if kind == "histogram" else [name]

    def value(self, name, **labels):
        return sum(value for found, value in self.samples.get(name, []) if labels.items() <= found.items())

    @staticmethod
    def of(url):
        with urllib.request.urlopen(f"{url}/metrics") as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            return Page(answer.read().decode())


class Files(unittest.TestCase):
    def test_every_expression_is_well_formed_and_names_only_rules_that_there_are(self):
        known = recorded()
        self.assertGreater(len(list(expressions())), 50)
        for where, expression in expressions():
            for name in expression.metrics:
                if ":" in name:
                    self.assertIn(name, known, where)

    def test_what_is_recorded_says_whose_it_is(self):
        for name in recorded():
            self.assertRegex(name, r"^millrace:[a-z0-9_:]+$")

    def test_alerts_of_the_sources_are_there_with_their_numbers(self):  # O-05, O-06
        alerts = {rule["alert"]: rule for rule in rules_in("alerts.yml")}
        self.assertEqual(alerts["worker_health_check_failure"]["for"], "90s")  # Three scrapes of 30 s.
        self.assertIn("> 1000", alerts["queue_depth_warning"]["expr"])
        self.assertIn("5m > 0.1", alerts["error_rate_spike"]["expr"])
        self.assertLessEqual({"processing_latency_p95_breach", "error_budget_fast_burn", "retry_rate_high", "dead_letter_rate_high"}, set(alerts))
        objectives = {(rule["record"], rule.get("labels", {}).get("queue")): rule["expr"] for rule in rules_in("rules.yml") if "objective" in rule["record"]}
        self.assertEqual(objectives["millrace:objective_latency_p95_seconds", "fast_queue"], "vector(120)")
        self.assertEqual(objectives["millrace:objective_latency_p95_seconds", "ai_queue"], "vector(600)")
        self.assertEqual(objectives["millrace:objective_success_ratio", "fast_queue"], "vector(0.995)")
        self.assertEqual(objectives["millrace:objective_success_ratio", "ingest"], "vector(0.98)")  # O-07
        self.assertEqual(objectives["millrace:objective_retry_ratio", None], "vector(0.05)")
        self.assertEqual(objectives["millrace:objective_dead_letter_ratio", None], "vector(0.001)")

    def test_every_alert_says_what_to_do(self):
        for rule in rules_in("alerts.yml"):
            self.assertIn(rule["labels"]["severity"], ("page", "ticket"), rule["alert"])
            for part in ("summary", "description"):
                self.assertTrue(rule["annotations"][part], rule["alert"])

    def test_the_dashboard_has_one_panel_per_id_and_place(self):
        panels = dashboard()["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        taken = set()
        for panel in panels:
            place = panel["gridPos"]
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((x, y), taken, panel["title"])
                    taken.add((x, y))

    def test_expressions_that_are_not_well_formed_are_noticed(self):
        for text in ("rate(a)", "sum(", "a[5m]", "a{b=c}", "nosuch(a)", "a b", 'a{b="c"', "histogram_quantile(0.5)"):
            with self.assertRaises(promql.PromqlError, msg=text):
                promql.Expression(text)
        for text in ("a: [1, 2]", "a: 1\na: 2", "a:\n  - b\n c: 1", "a: 'b"):
            with self.assertRaises(plain_yaml.YamlError, msg=text):
                plain_yaml.load(text)


class Collector:
    """Takes OTLP over HTTP and keeps what it got."""

    def __init__(self):
        self.requests = []
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                owner.requests.append((self.path, self.headers["Content-Type"], self.headers["x-key"], body))
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def spans(self, trace_id):
        out = []
        for _, _, _, body in list(self.requests):
            for resource in json.loads(body)["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    out += [span for span in scope["spans"] if span["traceId"] == trace_id]
        return out

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def attributes(span):
    return {entry["key"]: next(iter(entry["value"].values())) for entry in span["attributes"]}


@unittest.skipUnless("MILLRACE_PROGRAM" in os.environ, "MILLRACE_PROGRAM is not set")
class Program(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.collector = Collector()
        cls.addClassCleanup(cls.collector.close)
        cls.world = World(os.environ["MILLRACE_PROGRAM"],
                          env={"MILLRACE_TRACE_OTLP_URL": cls.collector.url, "MILLRACE_TRACE_OTLP_HEADERS": "x-key=hunter2"})
        cls.addClassCleanup(cls.world.close)
        cls.worker = cls.world.start("worker", "--metrics-listen", "127.0.0.1:0")
        cls.client = Client(cls.world.url, cls.world.token("service_role"))
        cls.addClassCleanup(cls.client.close)

    def run_job(self, **options):
        made = self.client.transport.call("POST", "/api/v1/jobs", body=options.pop("job"), key=options.pop("key", None), **options).json()
        return self.client.jobs.wait_for(made["job_id"], timeout=60)

    def test_files_name_only_what_the_program_exports(self):  # O-03, O-04, O-08, O-09, O-11
        self.run_job(job={"job_type": "noop", "payload": {"n": 1}, "stage": "ocr"})
        with self.assertRaises(urllib.error.HTTPError):
            urllib.request.urlopen(urllib.request.Request(f"{self.world.url}/api/v1/jobs", headers={"Authorization": "Bearer nonsense"}))
        eventually(lambda: Page.of(self.world.url).value("millrace_trace_spans_total", result="exported") > 0, "spans are exported")
        pages = [Page.of(self.world.url), Page.of(self.worker.ready["http_url"])]
        exported = {name for page in pages for name in page.names()}
        labels = {}
        for page in pages:
            for name, samples in page.samples.items():
                labels.setdefault(name, set()).update(*(found for found, _ in samples))
        known = exported | recorded() | {"up"}
        for where, expression in expressions():
            for name, used in expression.metrics.items():
                self.assertIn(name, known, where)
                if name in labels:
                    self.assertLessEqual(used, labels[name] | {"job", "instance"}, f"{where}: labels of {name}")

    def test_names_follow_the_rule(self):  # O-03
        sources = {"processing_stage_duration_seconds": "histogram", "processing_stage_errors_total": "counter", "buffer_table_sizes": "gauge",
                   "external_api_calls_total": "counter", "processing_costs_total": "counter"}
        page = Page.of(self.world.url)
        for name, kind in page.kinds.items():
            if name in sources:
                self.assertEqual(kind, sources[name], name)
            else:
                self.assertTrue(name.startswith("millrace_"), name)
            self.assertEqual(name.endswith("_total"), kind == "counter", name)
            self.assertNotIn("step", name)
        self.assertLessEqual(set(sources), set(page.kinds))

    def test_no_label_is_an_id(self):
        job = self.run_job(job={"job_type": "noop", "payload": {"n": 1}})
        for page in (Page.of(self.world.url), Page.of(self.worker.ready["http_url"])):
            for name, samples in page.samples.items():
                for labels, _ in samples:
                    for value in labels.values():
                        self.assertNotRegex(value, r"[0-9a-f]{8}-[0-9a-f]{4}-", name)
                        self.assertNotIn(job["job_id"], value)

    def test_runs_are_counted_where_they_ran(self):
        def runs():
            pages = (Page.of(self.world.url), Page.of(self.worker.ready["http_url"]))
            return sum(page.value("millrace_job_run_seconds_count", job_type="noop", outcome="ok") for page in pages)

        before = runs()
        self.run_job(job={"job_type": "noop", "payload": {"n": 1}})
        eventually(lambda: runs() == before + 1, "the run is counted")

    def test_a_worker_says_how_it_is(self):  # H-19
        url = self.worker.ready["http_url"]
        for path, member, value in (("/livez", "answer", "alive"), ("/readyz", "answer", "ready"), ("/health", "status", "healthy")):
            with urllib.request.urlopen(url + path) as answer:
                self.assertEqual(json.load(answer)[member], value)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url + "/api/v1/jobs")
        self.assertEqual(refused.exception.code, 404)

    def test_one_address_serves_one_process(self):
        command = [self.world.program, "worker", "--processes", "2", "--metrics-listen", "127.0.0.1:0"]
        refused = subprocess.run(command, cwd=self.world.folder, env=self.world.env, capture_output=True, text=True, check=False, timeout=60)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("worker.metrics_listen needs worker.processes = 1", refused.stderr)

    def test_a_trace_goes_from_the_caller_through_the_request_to_the_run(self):
        trace_id, caller = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
        job = self.run_job(job={"job_type": "noop", "payload": {"name": "Jane Doe"}},
                           headers={"traceparent": f"00-{trace_id}-{caller}-01", "x-correlation-id": "order-18"})
        spans = eventually(lambda: (found := self.collector.spans(trace_id)) and len(found) >= 2 and found, "both spans arrive")
        request = next(span for span in spans if span["kind"] == 2)
        run = next(span for span in spans if span["kind"] == 5)
        self.assertEqual(request["name"], "POST /api/v1/jobs")
        self.assertEqual(request["parentSpanId"], caller)
        self.assertEqual(run["name"], "run noop")
        self.assertEqual(run["parentSpanId"], request["spanId"])
        self.assertEqual(attributes(request)["millrace.job_id"], job["job_id"])
        self.assertEqual(attributes(run)["messaging.message.id"], job["job_id"])
        self.assertEqual(attributes(run)["millrace.outcome"], "ok")
        self.assertEqual(attributes(run)["millrace.cid"], "order-18")
        for span in spans:
            self.assertRegex(span["spanId"], r"^[0-9a-f]{16}$")
            self.assertLessEqual(int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]))
        path, kind, key, _ = self.collector.requests[0]
        self.assertEqual((path, kind, key), ("/v1/traces", "application/json", "hunter2"))
        for _, _, _, body in self.collector.requests:  # J07: ids, never content.
            self.assertNotIn(b"Jane", body)
            self.assertNotIn(self.client.transport.settings.token.encode(), body)

    def test_a_trace_that_its_caller_does_not_sample_leaves_no_span(self):
        trace_id = "5bf92f3577b34da6a3ce929d0e0e4736"
        self.run_job(job={"job_type": "noop", "payload": {"n": 1}}, headers={"traceparent": f"00-{trace_id}-00f067aa0ba902b7-00"})
        before = len(self.collector.requests)
        self.run_job(job={"job_type": "noop", "payload": {"n": 1}})
        eventually(lambda: len(self.collector.requests) > before, "later spans arrive")
        self.assertEqual(self.collector.spans(trace_id), [])

    def test_log_lines_are_json_without_secrets(self):  # O-01, T-08
        job = self.run_job(job={"job_type": "noop", "payload": {"name": "Jane Doe"}}, headers={"x-correlation-id": "order-19"})
        lines = eventually(lambda: [line for line in self.world.up.log.read_text().splitlines() if "order-19" in line and "http_request" in line],
                           "the request is logged")
        entry = json.loads(lines[0])
        self.assertEqual((entry["level"], entry["cid"], entry["job_id"]), ("info", "order-19", job["job_id"]))
        for program in (self.world.up, self.worker):
            text = program.log.read_text()
            for secret in ("Jane", "hunter2", self.client.transport.settings.token):
                self.assertNotIn(secret, text)


if __name__ == "__main__":
    unittest.main()
