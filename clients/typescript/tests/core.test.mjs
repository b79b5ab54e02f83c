// How calls are sent, repeated and read, against a server that does as it is told.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { ConnectionError, EventParser, ExportJobs, MillraceClient, ProblemError, WaitTimeout } from "../src/index.ts";
import { parseRetryAfter } from "../src/problem.ts";
import { cut, json, problem, StandIn, stream } from "./stand_in.mjs";

const open = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop();
});

async function world(script, options = {}) {
  const server = await new StandIn(script).start();
  open.push(server);
  return { server, client: new MillraceClient({ baseUrl: server.url, token: "t-1", retryBaseMs: 1, ...options }) };
}

const created = json(201, { job_id: "j-1", answer: "created" });

test("a create carries credentials, a key of its own and JSON", async () => {
  const { server, client } = await world([created]);
  const job = await client.jobs.create({ job_type: "noop", payload: { n: 1 } }, { correlationId: "order-1", tenant: "t" });
  assert.equal(job.job_id, "j-1");
  const [request] = server.requests;
  assert.equal(request.method, "POST");
  assert.equal(request.url, "/api/v1/jobs");
  assert.equal(request.headers.authorization, "Bearer t-1");
  assert.equal(request.headers["x-correlation-id"], "order-1");
  assert.equal(request.headers["x-millrace-tenant"], "t");
  assert.match(request.headers["idempotency-key"], /^[0-9a-f-]{36}$/);
  assert.deepEqual(JSON.parse(request.body), { job_type: "noop", payload: { n: 1 } });
});

test("a create is repeated with the same key until it is answered", async () => {
  const { server, client } = await world([cut, problem(503, "unavailable"), problem(429, "throttled"), created]);
  await client.jobs.create({ job_type: "noop", payload: { n: 1 } });
  assert.equal(server.requests.length, 4);
  assert.equal(new Set(server.requests.map((request) => request.headers["idempotency-key"])).size, 1);
});

test("a create without a key is sent once, and the error says that it may have been done", async () => {
  const { server, client } = await world([cut, created]);
  await assert.rejects(client.jobs.create({ job_type: "noop", payload: { n: 1 } }, { idempotencyKey: false }), (error) => {
    assert.ok(error instanceof ConnectionError);
    assert.equal(error.inDoubt, true);
    return true;
  });
  assert.equal(server.requests.length, 1);
  assert.equal(server.requests[0].headers["idempotency-key"], undefined);
});

test("a key that is still under way after a lost answer is waited for", async () => {
  const { server, client } = await world([cut, problem(409, "conflict"), created]);
  await client.jobs.create({ job_type: "noop", payload: { n: 1 } });
  assert.equal(server.requests.length, 3);
});

test("a conflict of a first request is an answer", async () => {
  const { server, client } = await world([problem(409, "conflict"), created]);
  await assert.rejects(client.jobs.create({ job_type: "noop", payload: { n: 1 } }), { name: "ProblemError", status: 409 });
  assert.equal(server.requests.length, 1);
});

test("a POST that takes no key is not repeated", async () => {
  const { server, client } = await world([problem(503, "unavailable"), json(200, {})]);
  await assert.rejects(client.queues.pause({ queue: "default" }, { reason: "r" }), { status: 503 });
  assert.equal(server.requests.length, 1);
});

test("a delete whose answer was lost has been done", async () => {
  const { server, client } = await world([cut, problem(404, "not_found")]);
  assert.equal(await client.cron.delete({ name: "nightly" }), undefined);
  assert.equal(server.requests.length, 2);
});

test("problems keep what programs act on", async () => {
  const broken = { type: "about:blank", title: "t", status: 400, detail: "the body breaks rules", code: "invalid_body", cid: "c-9",
    errors: [{ pointer: "#/priority", rule: "maximum", detail: "too large" }] };
  const { client } = await world([json(400, broken)]);
  await assert.rejects(client.jobs.create({ job_type: "noop", payload: { n: 1 }, priority: 5000 }), (error) => {
    assert.ok(error instanceof ProblemError);
    assert.equal(error.code, "invalid_body");
    assert.equal(error.cid, "c-9");
    assert.equal(error.errors[0].pointer, "#/priority");
    assert.match(error.message, /^400 invalid_body: the body breaks rules$/);
    return true;
  });
});

test("an error without a problem is one all the same", async () => {
  const { client } = await world([(_, response) => response.writeHead(404, { "x-correlation-id": "c-7" }).end("<html>")]);
  await assert.rejects(client.jobs.get({ id: "j" }), (error) => error instanceof ProblemError && error.status === 404 && error.cid === "c-7");
});

test("Retry-After is kept, and one that asks for too long is the caller's to decide", async () => {
  const { server, client } = await world([problem(503, "unavailable", { "Retry-After": "0" }), problem(503, "unavailable", { "Retry-After": "3600" })]);
  await assert.rejects(client.jobs.get({ id: "j" }), (error) => error.retryAfterMs === 3_600_000);
  assert.equal(server.requests.length, 2);
});

test("Retry-After is seconds or a date", () => {
  assert.equal(parseRetryAfter("1.5"), 1500);
  assert.equal(parseRetryAfter("Thu, 01 Jan 1970 00:00:10 GMT", 4000), 6000);
  assert.equal(parseRetryAfter("Thu, 01 Jan 1970 00:00:10 GMT", 40_000), 0);
  assert.equal(parseRetryAfter("soon"), undefined);
  assert.equal(parseRetryAfter(null), undefined);
});

test("a read is repeated so often and no more", async () => {
  const { server, client } = await world([problem(503, "unavailable")], { retries: 2 });
  await assert.rejects(client.jobs.get({ id: "j" }), { status: 503 });
  assert.equal(server.requests.length, 3);
});

test("a server that does not answer is a time-out, and an abort ends the call at once", async () => {
  const { client } = await world([() => {}], { retries: 0 });
  await assert.rejects(client.jobs.get({ id: "j" }, { timeoutMs: 20 }), (error) => error instanceof ConnectionError && error.cause.name === "TimeoutError");
  const control = new AbortController();
  const asked = client.jobs.get({ id: "j" }, { signal: control.signal });
  control.abort(new Error("enough"));
  await assert.rejects(asked, { message: "enough" });
});

test("path and query are encoded", async () => {
  const { server, client } = await world([json(200, {})]);
  await client.queues.get({ queue: "a/b c?" });
  await client.jobs.list({ queue: "a&b", limit: 5 }).catch(() => {});
  assert.equal(server.requests[0].url, "/api/v1/queues/a%2Fb%20c%3F");
  assert.equal(server.requests[1].url, "/api/v1/jobs?limit=5&queue=a%26b");
  await assert.rejects(client.jobs.get({ id: "" }), TypeError);
});

test("an answer that breaks off is asked for again", async () => {
  const half = (request, response) => {
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "100" });
    response.write('{"status":', () => request.socket.destroy());
  };
  const { server, client } = await world([half, json(200, { status: "completed" })]);
  assert.equal((await client.jobs.get({ id: "j" })).status, "completed");
  assert.equal(server.requests.length, 2);
});

test("a token is asked for before every request", async () => {
  let asked = 0;
  const { server, client } = await world([problem(503, "unavailable"), json(200, {})], { token: async () => `t-${++asked}` });
  await client.jobs.get({ id: "j" });
  assert.deepEqual(server.requests.map((request) => request.headers.authorization), ["Bearer t-1", "Bearer t-2"]);
});

test("pages are fetched as they are needed", async () => {
  const { server, client } = await world([
    json(200, { items: [{ job_id: "1" }, { job_id: "2" }], next_cursor: "c2" }),
    json(200, { items: [], next_cursor: "c3" }),
    json(200, { items: [{ job_id: "3" }], next_cursor: null }),
  ]);
  const seen = [];
  for await (const job of client.jobs.listAll({ queue: "q" })) {
    seen.push(job.job_id);
    if (seen.length === 2) assert.equal(server.requests.length, 1);
  }
  assert.deepEqual(seen, ["1", "2", "3"]);
  assert.deepEqual(server.requests.map((request) => request.url), [
    "/api/v1/jobs?queue=q", "/api/v1/jobs?cursor=c2&queue=q", "/api/v1/jobs?cursor=c3&queue=q",
  ]);
});

test("waiting asks with the ETag until the job has ended, or gives up", async () => {
  const running = json(200, { job_id: "j", status: "processing" }, { ETag: '"1"' });
  const { server, client } = await world([running, (_, response) => response.writeHead(304, { ETag: '"1"' }).end(), json(200, { job_id: "j", status: "completed" })]);
  assert.equal((await client.waitForJob("j", { pollMs: 1 })).status, "completed");
  assert.deepEqual(server.requests.map((request) => request.headers["if-none-match"]), [undefined, '"1"', '"1"']);
  const slow = await world([running]);
  await assert.rejects(slow.client.waitForJob("j", { pollMs: 1, timeoutMs: 10 }), WaitTimeout);
});

// ---- streams

// Through the core: which operations stream is the document's business.
const spec = { id: "test.events", method: "GET", path: "/events/{id}", answer: "events" };
class Streams extends MillraceClient {
  stream(options = {}) {
    return this.core.events(spec, { id: "j" }, options);
  }
}

async function streams(script) {
  const server = await new StandIn(script).start();
  open.push(server);
  return { server, client: new Streams({ baseUrl: server.url, token: "t", retryBaseMs: 1 }) };
}

const gone = (_, response) => response.writeHead(204).end();

test("a stream resumes behind the last event and ends with 204", async () => {
  const { server, client } = await streams([
    stream("retry: 1\n\nid: 1\nevent: progress\ndata: {\"progress\":", "50}\n\n"),
    cut,
    stream(": heartbeat\n\n", "id: 2\nevent: completed\ndata: {}\n\n"),
    gone,
  ]);
  const seen = [];
  for await (const event of client.stream()) seen.push(`${event.id} ${event.event} ${event.text}`);
  assert.deepEqual(seen, ['1 progress {"progress":50}', "2 completed {}"]);
  assert.deepEqual(server.requests.map((request) => request.headers["last-event-id"]), [undefined, "1", "1", "2"]);
  assert.equal(server.requests[0].headers.accept, "text/event-stream");
});

test("a stream that says nothing is opened anew", async () => {
  const silent = (_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write("retry: 1\nid: 5\ndata: a\n\n");
  };
  const { server, client } = await streams([silent, gone]);
  const seen = [];
  for await (const event of client.stream({ idleTimeoutMs: 20 })) seen.push(event.data);
  assert.deepEqual(seen, ["a"]);
  assert.equal(server.requests[1].headers["last-event-id"], "5");
});

test("whoever leaves the loop closes the connection", async () => {
  let closed;
  const over = new Promise((resolve) => (closed = resolve));
  const { client } = await streams([(request, response) => {
    request.socket.on("close", closed);
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write("data: a\n\ndata: b\n\n");
  }]);
  for await (const event of client.stream()) {
    assert.equal(event.data, "a");
    break;
  }
  await over;
});

test("a stream that is refused says why, and an abort ends it", async () => {
  const { client } = await streams([problem(403, "forbidden")]);
  await assert.rejects(client.stream().next(), { status: 403, code: "forbidden" });
  const control = new AbortController();
  const { client: other } = await streams([(_, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).write(":\n\n")]);
  const next = other.stream({ signal: control.signal }).next();
  setTimeout(() => control.abort(new Error("enough")), 5);
  await assert.rejects(next, { message: "enough" });
});

test("events are read as the standard says, however they are cut into pieces", () => {
  const text = "\uFEFF: hello\r\nid: 1\r\nevent: a\r\ndata: x\r\ndata:y\r\n\r\ndata\n\nid: 2\ndata: {\"n\":1}\rretry: 250\r\rid\ndata: z\n\nevent: lost";
  for (const size of [1, 2, 3, 7, text.length]) {
    const parser = new EventParser();
    const events = [];
    for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)));
    assert.deepEqual(events.map(({ id, event, text: data }) => [id, event, data]), [
      ["1", "a", "x\ny"], ["1", "message", ""], ["2", "message", '{"n":1}'], ["", "message", "z"],
    ], `pieces of ${size}`);
    assert.deepEqual(events[2].data, { n: 1 });
    assert.equal(parser.retryMs, 250);
  }
});

// X-27, H-06
test("exports are followed by their stream, and by asking where there is none", async () => {
  const frame = (name, data) => `event: ${name}\nid: 1-1\ndata: ${JSON.stringify(data)}\n\n`;
  const server = await new StandIn([
    (_, response) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write(frame("progress", { jobId: "a", status: "processing", progress: 25 }));
      response.write(frame("progress", { jobId: "a", status: "processing", progress: 75 }));
      response.end(frame("completed", { jobId: "a", status: "completed", progress: 100, resultUrl: "https://files.example/a", error: null }));
    },
    (request) => request.socket.destroy(),
    json(200, { data: { id: "b", status: "processing", progress: 50, resultUrl: null, error: null } }),
    json(200, { data: { id: "b", status: "failed", progress: 50, resultUrl: null, error: "no room" } }),
  ]).start();
  const client = new MillraceClient({ baseUrl: server.url, retries: 0 });
  const seen = [];
  const exports = new ExportJobs(client, (jobs) => seen.push(jobs.overallProgress));
  const done = await exports.subscribeToJob("a");
  assert.deepEqual([done.status, done.progress, done.resultUrl], ["completed", 100, "https://files.example/a"]);
  assert.deepEqual(seen, [0, 25, 75, 100]);
  const failed = await exports.subscribeToJob("b", { pollMs: 1 });
  assert.deepEqual([failed.status, failed.error], ["failed", "no room"]);
  assert.equal(exports.overallProgress, 75);
  exports.updateJobProgress("b", { status: "processing", progress: 60 });
  exports.updateJobProgress("b", { progress: 40 });
  assert.equal(exports.activeJobs.get("b").progress, 60);
  exports.forget("b");
  assert.deepEqual([...exports.activeJobs.keys()], ["a"]);
  await server.stop();
});

// H-06: trouble on the way says nothing of the export; an answer of the server does.
test("an export is asked about where its stream is refused by something in between", async () => {
  for (const refusal of [problem(500, "internal"), (_, response) => response.writeHead(502).end("<html>Bad Gateway</html>"), problem(503, "unavailable")]) {
    const { client, server } = await world([refusal, json(200, { data: { id: "c", status: "completed", progress: 100, resultUrl: "https://files.example/c", error: null } })], { retries: 0 });
    const done = await new ExportJobs(client).subscribeToJob("c", { pollMs: 1 });
    assert.deepEqual([done.status, done.resultUrl], ["completed", "https://files.example/c"]);
    assert.deepEqual(server.requests.map((request) => request.url), ["/api/v1/export/job/c/stream", "/api/v1/export/job/c"]);
  }
  const { client, server } = await world([problem(403, "forbidden")], { retries: 0 });
  await assert.rejects(new ExportJobs(client).subscribeToJob("c", { pollMs: 1 }), { status: 403 });
  assert.equal(server.requests.length, 1);
});

//
test("clicks that come close together are one order, per document", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const sent = [];
  const client = { export: { create: async (body) => (sent.push(body), { data: { jobId: `job of ${body.documentId}` } }) } };
  const exports = new ExportJobs(client);
  const first = exports.order({ documentId: "a" });
  t.mock.timers.tick(499);
  const second = exports.order({ documentId: "a", options: { pageSize: "A4" } });
  const other = exports.order({ documentId: "b" });
  t.mock.timers.tick(499);
  assert.deepEqual(sent, []);
  t.mock.timers.tick(1);
  assert.deepEqual(await Promise.all([first, second, other]), ["job of a", "job of a", "job of b"]);
  assert.deepEqual(sent, [{ documentId: "a", options: { pageSize: "A4" } }, { documentId: "b" }]);
  assert.deepEqual([...exports.activeJobs.keys()], ["job of a", "job of b"]);
  client.export.create = async () => {
    throw new ProblemError(429, {}, "c-1");
  };
  const refused = assert.rejects(exports.order({ documentId: "a" }), { status: 429 });
  t.mock.timers.tick(500);
  await refused;
});
