// The client against the real server, which tests/clients/with_server starts and names in the environment.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MillraceClient, ProblemError } from "../src/index.ts";

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
  await assert.rejects(service().jobs.create({ job_type: "noop", payload: { n: 1 }, priority: 5000 }), (error) => {
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

test("an upload is a document with a state of its own", { skip }, async () => {
  const client = service();
  const file = await client.uploads.create({ file_name: "a.pdf", owner_id: crypto.randomUUID() }, new TextEncoder().encode("%PDF-1.7 a letter"));
  const document = await client.documents.get({ id: file.id });
  assert.equal(document.file_name, "a.pdf");
  assert.deepEqual((await client.documents.facts({ id: file.id })).items, []);
  await assert.rejects(client.documents.output({ id: file.id, kind: "fhir" }), (problem) => [404, 409].includes(problem.status));
  // Whether somebody reads it here is not said: it ends, or the wait does.
  const end = await client.waitForDocument(file.id, { timeoutMs: 500 }).catch((error) => error);
  assert.ok(end.name === "WaitTimeout" || ["completed", "partial", "failed", "rejected"].includes(end.state), String(end));
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

test("a job is watched to its end, and a stream that is opened behind an event goes on there", { skip }, async () => {
  const client = service();
  const { job_id: id } = await client.jobs.create({ job_type: "sleep", payload: { ms: 300 } });
  const events = [];
  for await (const event of client.jobs.events({ id }, { signal: AbortSignal.timeout(30_000) })) events.push(event);
  assert.equal(events[0].event, "snapshot");
  assert.equal(events.at(-1).event, "completed");
  assert.equal(events.at(-1).data.status, "completed");
  const again = [];
  for await (const event of client.jobs.events({ id }, { lastEventId: events.at(-1).id, signal: AbortSignal.timeout(30_000) })) again.push(event);
  assert.deepEqual(again, []);
});

test("a file is uploaded as bytes and as a form, and read back", { skip }, async () => {
  const client = service();
  const owner_id = crypto.randomUUID();
  const content = new TextEncoder().encode("%PDF-1.4 a small file\n");
  const idempotencyKey = crypto.randomUUID();
  const first = await client.uploads.create({ file_name: "a.pdf", owner_id }, new Blob([content], { type: "application/pdf" }), { idempotencyKey });
  const again = await client.uploads.create({ file_name: "a.pdf", owner_id }, content, { idempotencyKey, contentType: "application/pdf" });
  assert.equal(again.id, first.id);
  const read = await client.files.content({ id: first.id });
  assert.deepEqual(new Uint8Array(await read.arrayBuffer()), content);
  const form = new FormData();
  form.append("owner_id", owner_id);
  form.append("file", new Blob([content], { type: "application/pdf" }), "b.pdf");
  const second = await client.uploads.create({}, form);
  assert.notEqual(second.id, first.id);
  for (const { id } of [first, second]) await client.files.delete({ id });
  await assert.rejects(client.files.get({ id: first.id }), { status: 404 });
});
