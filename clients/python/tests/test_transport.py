"""How calls are sent, repeated and read, against a server that does as it is told."""
import http.server
import io
import json
import pathlib
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from millrace import Client, ConnectionLost, Problem, WaitTimeout  # noqa: E402
from millrace.errors import parse_retry_after  # noqa: E402
from millrace.events import EventParser  # noqa: E402


class StandIn:
    """Answers the n-th request by the n-th step; the last one serves all further requests."""

    def __init__(self, *script):
        self.requests = []
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self):
                length = int(self.headers.get("Content-Length") or 0)
                owner.requests.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, self.rfile.read(length)))
                script[min(len(owner.requests), len(script)) - 1](self)

            do_GET = do_POST = do_PUT = do_DELETE = handle_one

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def headers(self, name):
        return [headers.get(name) for _, _, headers, _ in self.requests]

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def reply(status, value=None, headers=(), content_type="application/json"):
    def step(handler):
        body = b"" if value is None else value if isinstance(value, bytes) else json.dumps(value).encode()
        handler.send_response(status)
        for name, text in headers:
            handler.send_header(name, text)
        if status not in (204, 304):
            handler.send_header("Content-Type", content_type)
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
    return step


def problem(status, code, headers=()):
    return reply(status, {"status": status, "code": code, "detail": f"because of {code}", "cid": "c-1"}, headers)


def cut(handler):
    handler.close_connection = True
    handler.connection.shutdown(2)


def stream(*pieces):
    def step(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        for piece in pieces:
            handler.wfile.write(piece.encode())
            handler.wfile.flush()
        handler.close_connection = True
    return step


CREATED = reply(201, {"job_id": "j-1", "answer": "created"})


class Transport(unittest.TestCase):
    def world(self, *script, **options):
        server = StandIn(*script)
        self.addCleanup(server.close)
        client = Client(server.url, "t-1", **{"retry_base": 0.001, **options})
        self.addCleanup(client.close)
        return server, client

    def test_a_create_carries_credentials_a_key_of_its_own_and_json(self):
        server, client = self.world(CREATED, tenant="t")
        self.assertEqual(client.jobs.create("noop", {"n": 1}, priority=5)["job_id"], "j-1")
        method, path, headers, body = server.requests[0]
        self.assertEqual((method, path), ("POST", "/api/v1/jobs"))
        self.assertEqual(headers["authorization"], "Bearer t-1")
        self.assertEqual(headers["x-millrace-tenant"], "t")
        self.assertRegex(headers["idempotency-key"], r"^[0-9a-f-]{36}$")
        self.assertEqual(json.loads(body), {"job_type": "noop", "priority": 5, "payload": {"n": 1}})

    def test_a_create_is_repeated_with_the_same_key_until_it_is_answered(self):
        server, client = self.world(cut, problem(503, "unavailable"), problem(429, "throttled"), CREATED)
        client.jobs.create("noop", {"n": 1})
        self.assertEqual(len(server.requests), 4)
        self.assertEqual(len(set(server.headers("idempotency-key"))), 1)

    def test_a_post_without_a_key_is_sent_once_and_is_in_doubt(self):
        server, client = self.world(cut, reply(200, {}))
        with self.assertRaises(ConnectionLost) as caught:
            client.jobs.cancel("j")
        self.assertTrue(caught.exception.in_doubt)
        self.assertEqual(len(server.requests), 1)

    def test_a_key_that_is_still_under_way_after_a_lost_answer_is_waited_for(self):
        server, client = self.world(cut, problem(409, "conflict"), CREATED)
        client.jobs.create("noop", {"n": 1})
        self.assertEqual(len(server.requests), 3)

    def test_a_delete_whose_answer_was_lost_has_been_done(self):
        server, client = self.world(cut, problem(404, "not_found"))
        client.uploads.delete("f")
        self.assertEqual(len(server.requests), 2)

    def test_problems_keep_what_programs_act_on(self):
        _, client = self.world(reply(400, {"code": "invalid_body", "detail": "broken", "cid": "c-9", "errors": [{"pointer": "#/priority"}]}))
        with self.assertRaises(Problem) as caught:
            client.jobs.create("noop", {"n": 1}, priority=5000)
        self.assertEqual((caught.exception.status, caught.exception.code, caught.exception.cid), (400, "invalid_body", "c-9"))
        self.assertEqual(caught.exception.errors, [{"pointer": "#/priority"}])
        self.assertEqual(str(caught.exception), "400 invalid_body: broken")

    def test_an_error_that_is_not_json_is_one_all_the_same(self):
        _, client = self.world(reply(404, b"<html>", [("x-correlation-id", "c-7")], "text/html"))
        with self.assertRaises(Problem) as caught:
            client.jobs.get("j")
        self.assertEqual((caught.exception.status, caught.exception.cid), (404, "c-7"))

    def test_retry_after_that_asks_for_too_long_is_the_callers_to_decide(self):
        server, client = self.world(problem(503, "unavailable", [("Retry-After", "0")]), problem(503, "unavailable", [("Retry-After", "3600")]))
        with self.assertRaises(Problem) as caught:
            client.jobs.get("j")
        self.assertEqual(caught.exception.retry_after, 3600)
        self.assertEqual(len(server.requests), 2)

    def test_retry_after_is_seconds_or_a_date(self):
        self.assertEqual(parse_retry_after("1.5"), 1.5)
        self.assertEqual(parse_retry_after("Thu, 01 Jan 1970 00:00:10 GMT", now=4), 6)
        self.assertEqual(parse_retry_after("Thu, 01 Jan 1970 00:00:10 GMT", now=40), 0)
        self.assertIsNone(parse_retry_after("soon"))
        self.assertIsNone(parse_retry_after(None))

    def test_pages_are_fetched_as_they_are_needed(self):
        server, client = self.world(reply(200, {"items": [{"job_id": "1"}, {"job_id": "2"}], "next_cursor": "c2"}),
                                    reply(200, {"items": [{"job_id": "3"}], "next_cursor": None}))
        jobs = client.jobs.list(queue="a&b")
        self.assertEqual(next(jobs)["job_id"], "1")
        self.assertEqual(len(server.requests), 1)
        self.assertEqual([job["job_id"] for job in jobs], ["2", "3"])
        self.assertEqual([path for _, path, _, _ in server.requests], ["/api/v1/jobs?queue=a%26b", "/api/v1/jobs?queue=a%26b&cursor=c2"])

    def test_names_are_encoded_and_empty_ones_refused(self):
        server, client = self.world(reply(200, {}))
        client.queues.get("a/b c?")
        self.assertEqual(server.requests[0][1], "/api/v1/queues/a%2Fb%20c%3F")
        with self.assertRaises(ValueError):
            client.jobs.get("")

    def test_waiting_asks_with_the_etag_and_gives_up_in_time(self):
        running = reply(200, {"status": "processing"}, [("ETag", '"1"')])
        server, client = self.world(running, reply(304, None, [("ETag", '"1"')]), reply(200, {"status": "completed"}))
        self.assertEqual(client.jobs.wait_for("j", poll=0.001)["status"], "completed")
        self.assertEqual(server.headers("if-none-match"), [None, '"1"', '"1"'])
        _, slow = self.world(running)
        with self.assertRaises(WaitTimeout):
            slow.jobs.wait_for("j", timeout=0.01, poll=0.001)

    def test_an_upload_is_sent_again_from_its_beginning(self):
        server, client = self.world(problem(503, "unavailable"), reply(201, {"id": "f"}))
        client.uploads.create(io.BytesIO(b"content"), file_name="a b.txt", key="k-1", patient_id="p")
        self.assertEqual([body for _, _, _, body in server.requests], [b"content", b"content"])
        self.assertEqual(server.headers("idempotency-key"), ["k-1", "k-1"])
        self.assertEqual(server.headers("content-length"), ["7", "7"])
        self.assertEqual(server.requests[0][1], "/api/v1/uploads?file_name=a+b.txt&patient_id=p")

    def test_a_stream_resumes_behind_the_last_event_and_ends_with_204(self):
        server, client = self.world(stream("retry: 1\n\nid: 1\nevent: progress\ndata: {\"progress\":", "50}\n\n"), cut,
                                    stream(": heartbeat\n\n", "id: 2\nevent: completed\ndata: {}\n\n"), reply(204))
        seen = [(event.id, event.event, event.data) for event in client.events.job("j")]
        self.assertEqual(seen, [("1", "progress", {"progress": 50}), ("2", "completed", {})])
        self.assertEqual(server.headers("last-event-id"), [None, "1", "1", "2"])

    def test_a_stream_that_is_refused_says_why(self):
        _, client = self.world(problem(403, "forbidden"))
        with self.assertRaises(Problem) as caught:
            next(iter(client.events.all()))
        self.assertEqual(caught.exception.code, "forbidden")

    def test_events_are_read_as_the_standard_says_however_they_are_cut(self):
        text = ("\ufeff: hello\r\nid: 1\r\nevent: a\r\ndata: x\r\ndata:\u00e4\r\n\r\ndata\n\nid: 2\ndata: {\"n\":1}\rretry: 250\r\rid\ndata: z\n\n"
                "event: lost").encode()
        for size in (1, 2, 3, 7, len(text)):
            parser = EventParser()
            events = [event for at in range(0, len(text), size) for event in parser.push(text[at:at + size])]
            self.assertEqual([(event.id, event.event, event.text) for event in events],
                             [("1", "a", "x\n\u00e4"), ("1", "message", ""), ("2", "message", '{"n":1}'), ("", "message", "z")], size)
            self.assertEqual(events[2].data, {"n": 1})
            self.assertEqual(parser.retry_seconds, 0.25)


if __name__ == "__main__":
    unittest.main()
