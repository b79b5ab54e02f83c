// The client against the real server, which tests/clients/with_server starts and names in the environment.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MillraceClient, operations, ProblemError } from "../src/index.ts";

const baseUrl = process.env.MILLRACE_URL;
const skip = baseUrl === undefined ? "MILLRACE_URL is not set: run through tests/clients/with_server" : false;
const service = () => new MillraceClient({ baseUrl, token: process.env.MILLRACE_TOKEN });
const operator = () => new MillraceClient({ baseUrl, token: process.env.MILLRACE_OPERATOR_TOKEN });
const later = () => ({ job_type: "noop", payload: { n: 1 }, delay_seconds: 3600 });

test("a job is created, waited for, and its result read", { skip }, async () => {
  const client = service();
  const { job_id, answer } = await client.jobs.create({ job_type: "noop", payload: { n: 1 } });
  assert.equal(answer, "created");
  const job = await client.waitForJob(job_id, { timeoutMs: 30_000 });
  assert.equal(job.status, "completed");
  assert.equal(job.job_type, "noop");
  assert.equal((await client.jobs.result({ id: job_id })).status, "completed");
});

test("the same key makes one job", { skip }, async () => {
  const client = service();
  const idempotencyKey = crypto.randomUUID();
  const first = await client.jobs.create(later(), { idempotencyKey });
  const second = await client.request("jobs.create", { body: later() }, { idempotencyKey });
  assert.equal(second.data.job_id, first.job_id);
  assert.equal(second.headers.get("idempotent-replayed"), "true");
  await assert.rejects(client.jobs.create({ ...later(), priority: 7 }, { idempotencyKey }), { status: 422, code: "idempotency_mismatch" });
  await client.jobs.cancel({ id: first.job_id }, { reason: "test" });
});

test("a request that breaks rules says which, and nothing is made", { skip }, async () => {
  await assert.rejects(service().jobs.create({ job_type: "noop", priority: 5000 }), (error) => {
    assert.ok(error instanceof ProblemError);
    assert.equal(error.status, 400);
    assert.deepEqual(error.errors.map(({ pointer, rule }) => [pointer, rule]), [["#/priority", "maximum"]]);
    assert.notEqual(error.cid, "");
    return true;
  });
});

test("without credentials there is a problem, and the pages for everybody", { skip }, async () => {
  const nobody = new MillraceClient({ baseUrl });
  await assert.rejects(nobody.jobs.list(), { status: 401 });
  assert.equal((await nobody.livez()).answer, "alive");
  assert.equal((await nobody.health()).status, "healthy");
  assert.match(await nobody.metrics(), /^millrace_database_up 1$/m);
});

test("what does not exist is 404", { skip }, async () => {
  await assert.rejects(service().jobs.get({ id: crypto.randomUUID() }), { status: 404, code: "not_found" });
});

test("all pages of a list are read", { skip }, async () => {
  const client = service();
  const correlation = `page-${crypto.randomUUID()}`;
  const { items } = await client.jobs.createMany(Array.from({ length: 7 }, () => ({ ...later(), correlation_id: correlation })));
  const seen = new Set();
  for await (const job of client.jobs.listAll({ correlation_id: correlation, limit: 3 })) seen.add(job.job_id);
  assert.deepEqual([...seen].sort(), items.map((item) => item.job_id).sort());
  const cancelled = await client.jobs.cancelMany({ job_ids: [...seen], reason: "test" });
  assert.equal(cancelled.items.length, 7);
});

test("a batch is waited for", { skip }, async () => {
  const client = service();
  const { batch_id } = await client.batches.create({ jobs: [1, 2].map((n) => ({ job_type: "noop", payload: { n } })) });
  const batch = await client.waitForBatch(batch_id, { timeoutMs: 30_000 });
  assert.equal(batch.completed, 2);
  assert.equal(batch.failed, 0);
});

test("an operator pauses and resumes a queue; a service may not", { skip }, async () => {
  await assert.rejects(service().queues.pause({ queue: "default" }, { reason: "no" }), { status: 403 });
  const client = operator();
  try {
    await client.queues.pause({ queue: "default" }, { reason: "test" });
    assert.equal((await client.request("queues.get", { params: { queue: "default" } })).status, 200);
  } finally {
    await client.queues.resume({ queue: "default" });
  }
  assert.ok((await client.queues.list()).items.some((queue) => queue.queue === "default" || queue.name === "default"));
});

test("an answer that has not changed is 304", { skip }, async () => {
  const client = service();
  const { job_id: id } = await client.jobs.create(later());
  const first = await client.request("jobs.get", { params: { id } });
  const second = await client.request("jobs.get", { params: { id } }, { ifNoneMatch: first.etag });
  assert.equal(second.status, 304);
  assert.equal(second.data, undefined);
  await client.jobs.cancel({ id });
});

const streamed = "jobs.events" in operations && operations["jobs.events"].answer === "events";

test("a job is watched to its end, and the stream ends with it", { skip: skip || (streamed ? false : "this server has no streams") }, async () => {
  const client = service();
  const { job_id } = await client.jobs.create({ job_type: "sleep", payload: { ms: 300 } });
  const names = [];
  for await (const event of client.jobs.events({ id: job_id }, { signal: AbortSignal.timeout(30_000) })) names.push(event.event);
  assert.equal(names.at(-1), "completed");
});
