// Measures one peer once: node peer.mjs '{"peer": …, "bench": …, "url": …, …}', the result as JSON on
// standard output. Benches: install, enqueue, drain, sustained, latency.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { adapterOf, now, payload, payloads, sleep } from "./common.mjs";

const spec = JSON.parse(process.argv[2]);
const adapter = await adapterOf(spec.peer);
const bytes = spec.payloadBytes ?? 110;
const batch = spec.batch ?? 1000;

// The worker processes, all connected; what they did is summed up here.
class Workers {
  constructor() {
    this.children = [];
    this.done = [];
    this.first = Infinity;
    this.started = new Map();
  }

  async start(count, eachJob = false) {
    const file = fileURLToPath(new URL("./worker.mjs", import.meta.url));
    const ready = [];
    for (let i = 0; i < count; ++i) {
      const child = fork(file, [], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
      this.children.push(child);
      this.done.push(0);
      ready.push(new Promise((resolve, reject) => {
        child.on("message", (message) => {
          if (message.ready) resolve();
          if (message.done !== undefined) {
            this.done[i] = message.done;
            this.first = Math.min(this.first, message.first);
          }
          if (message.started !== undefined) this.started.set(message.started, message.at);
        });
        child.on("exit", () => reject(new Error("a worker of the peer ended")));
      }));
      child.send({ peer: spec.peer, url: spec.url, config: spec.config ?? {}, eachJob });
    }
    await Promise.all(ready);
  }

  total() {
    return this.done.reduce((sum, one) => sum + one, 0);
  }

  stop() {
    for (const child of this.children) {
      child.removeAllListeners();
      child.kill("SIGKILL");
    }
  }
}

async function fill(jobs) {
  const clients = await Promise.all([adapter.bulk(spec.url), adapter.bulk(spec.url)]);
  let next = 0;
  await Promise.all(clients.map(async (client) => {
    while (next < jobs) {
      const from = next;
      next += batch;
      await client.add(payloads(from, Math.min(batch, jobs - from), bytes));
    }
    await client.close();
  }));
}

async function query(client, text) {
  return (await client.query(text)).rows[0];
}

// Until nothing is unacknowledged. The clock starts with the first job handled: start-up is not in it.
async function drain() {
  await adapter.install(spec.url, spec.config);
  await fill(spec.jobs);
  const client = new pg.Client({ connectionString: spec.url });
  await client.connect();
  await client.query("checkpoint");
  const workers = new Workers();
  await workers.start(spec.processes);
  while (workers.total() < spec.jobs) await sleep(5);
  while ((await query(client, adapter.pending)).left > 0) await sleep(2);
  const end = now();
  workers.stop();
  await client.end();
  return { rate: spec.jobs / ((end - workers.first) / 1000), seconds: (end - workers.first) / 1000 };
}

// Producers wait while the backlog is large; the slower side sets the pace.
async function sustained() {
  await adapter.install(spec.url, spec.config);
  const workers = new Workers();
  await workers.start(spec.processes);
  const clients = await Promise.all(
    Array.from({ length: spec.producers ?? 2 }, () => adapter.bulk(spec.url)));
  let produced = 0;
  let stop = false;
  const producing = clients.map(async (client) => {
    while (!stop) {
      if (produced - workers.total() > 50000) {
        await sleep(2);
        continue;
      }
      const from = produced;
      produced += batch;
      await client.add(payloads(from, batch, bytes));
    }
  });
  const begin = now();
  const series = [[0, 0]];
  while (now() - begin < spec.seconds * 1000) {
    await sleep(250);
    series.push([(now() - begin) / 1000, workers.total()]);
  }
  stop = true;
  await Promise.all(producing);
  workers.stop();
  return { series };
}

async function latency() {
  await adapter.install(spec.url, spec.config);
  const workers = new Workers();
  await workers.start(1, true);
  const client = await adapter.single(spec.url);
  const sent = [];
  for (let i = 0; i < spec.jobs + 10; ++i) {
    const called = now();
    await client.add(payload(i, bytes));
    sent.push({ number: i, called, returned: now() });
    await sleep(Math.max(0, 20 - (now() - called)));
  }
  for (let waited = 0; workers.started.size < sent.length && waited < 10000; waited += 20) {
    await sleep(20);
  }
  workers.stop();
  const measured = sent.slice(10);  // The first calls load and plan.
  return {
    from_commit: measured.map((one) => Math.max(0, workers.started.get(one.number) - one.returned)),
    from_call: measured.map((one) => workers.started.get(one.number) - one.called),
  };
}

async function enqueue() {
  if (spec.install ?? true) await adapter.install(spec.url, spec.config);
  const make = spec.kind === "single" ? adapter.single : adapter.bulk;
  const clients = await Promise.all(Array.from({ length: spec.clients }, () => make(spec.url)));
  const begin = now();
  const end = begin + spec.seconds * 1000;
  let jobs = 0;
  await Promise.all(clients.map(async (client) => {
    while (now() < end) {
      if (spec.kind === "single") {
        await client.add(payload(jobs, bytes));
        jobs += 1;
      } else {
        await client.add(payloads(jobs, batch, bytes));
        jobs += batch;
      }
    }
  }));
  const seconds = (now() - begin) / 1000;
  return { rate: jobs / seconds, jobs, seconds };
}

async function install() {
  await adapter.install(spec.url, spec.config);
  return {};
}

const benches = { install, enqueue, drain, sustained, latency };
const result = await benches[spec.bench]();
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(0);
