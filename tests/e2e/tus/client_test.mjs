// Resumable uploads with the real tus-js-client: in pieces, stopped and resumed, again with the same key, given up.
import * as tus from "tus-js-client";
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";

const url = process.env.SERVER_URL;
const headers = { Authorization: `Bearer ${process.env.USER_TOKEN}` };
const content = Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(2_000_000)]);
const sha256 = createHash("sha256").update(content).digest("hex");
const chunkSize = 300_000;

const ask = async (path) => {
  const reply = await fetch(url + path, { headers });
  return { status: reply.status, json: await reply.json() };
};
const stateOf = async (upload) => (await ask(new URL(upload.url).pathname)).json;

function make({ bytes = content, ...options }) {
  return new tus.Upload(bytes, { endpoint: `${url}/api/v1/tus`, headers, chunkSize, retryDelays: [0, 100, 1000, 2000], ...options });
}

function finish(options) {
  return new Promise((resolve, reject) => {
    const upload = make({ ...options, onError: reject, onSuccess: () => resolve(upload) });
    upload.start();
  });
}

// Starts one and stops when so many bytes are there.
function stopAt(bytes, options, terminate = false) {
  return new Promise((resolve, reject) => {
    const upload = make({
      ...options,
      onError: reject,
      onChunkComplete: (_size, accepted) => {
        if (accepted >= bytes) upload.abort(terminate).then(() => resolve(upload), reject);
      },
    });
    upload.start();
  });
}

test("pieces make one file", async () => {
  const done = await stateOf(await finish({ metadata: { filename: "März.pdf", filetype: "image/png" } }));
  assert.equal(done.state, "done");
  assert.equal(done.file.sha256, sha256);
  assert.equal(done.file.file_name, "März.pdf");
  assert.equal(done.file.content_type, "application/pdf");
  assert.ok(done.file.job_id);
});

test("an upload that was stopped goes on where it stands", async () => {
  const stopped = await stopAt(900_000, { metadata: { filename: "b.pdf" } });
  assert.equal((await stateOf(stopped)).offset_bytes, 900_000);
  let sent = 0;
  const resumed = await finish({ uploadUrl: stopped.url, onChunkComplete: (size) => (sent += size) });
  assert.ok(sent <= content.length - 900_000, `${sent} bytes were sent again`);
  assert.equal((await stateOf(resumed)).file.sha256, sha256);
});

test("a key that has its file gives it again", async () => {
  const metadata = { filename: "c.pdf", idempotency_key: "c-1" };
  const first = await stateOf(await finish({ metadata }));
  const again = await stateOf(await finish({ metadata }));
  assert.equal(again.file.id, first.file.id);
});

test("other content under the key of a file is an error and no success", async () => {
  const metadata = { filename: "e.pdf", idempotency_key: "e-1" };
  const first = await stateOf(await finish({ metadata }));
  const bytes = Buffer.from(content);
  bytes[bytes.length - 1] ^= 1;
  await assert.rejects(finish({ bytes, metadata }), /422/);
  assert.equal((await ask(`/api/v1/files/${first.file.id}`)).json.sha256, sha256);
});

test("the first bytes may come with the announcement", async () => {
  const upload = await finish({ uploadDataDuringCreation: true, metadata: { filename: "d.pdf" } });
  assert.equal((await stateOf(upload)).file.sha256, sha256);
});

test("what was given up is gone", async () => {
  const upload = await stopAt(chunkSize, {}, true);
  const path = new URL(upload.url).pathname;
  assert.equal((await ask(path)).status, 410);
});
