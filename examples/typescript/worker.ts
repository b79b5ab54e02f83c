// A Millrace worker over HTTP: Node 22.18 or newer, no packages, no database.
//
//   export MILLRACE_URL=http://127.0.0.1:8080
//   export MILLRACE_TOKEN=$(millrace token create --role service_role)
//   node worker.ts
//
// Also read: MILLRACE_QUEUES (default), MILLRACE_SLOTS (4), MILLRACE_LEASE_SECONDS (30). Put your own
// functions into `handlers`. What a handler returns is the job's result; Retry and Permanent say what else
// may have happened, any other exception is a retry.
//
// What makes it safe:
// - Every job comes with a token. Whoever settles names it; one that was given away meanwhile gets
//   "lease_lost" and changes nothing. So a job may run twice, but counts once.
// - Every call may be repeated. When the answer of a settlement is lost it is sent again until one comes.
// - Every claim says which jobs are held. What the answer of an earlier claim held, if it never came,
//   goes back by that and is handed out again.
// - A sign of life every third of the lease. Without one, the jobs belong to others.
import { hostname } from "node:os";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

interface ClaimedJob {
  job_id: string;
  token: string;
  job_type: string;
  payload: { [name: string]: Json };
  attempt: number;
  run_timeout_ms: number;
  idempotency_key: string; // For calls to others: the same at every delivery.
}
interface CancelRequest {
  job_id: string;
  token: string;
  reason?: string;
}
interface WorkerKey {
  worker_id: string;
  process: string;
}
type Handler = (job: Job) => Promise<Json>;

class Retry extends Error {
  afterSeconds: number | undefined;
  constructor(message: string, afterSeconds?: number) {
    super(message);
    this.afterSeconds = afterSeconds;
  }
}
class Permanent extends Error {}
class Cancelled extends Error {}
class NotRegistered extends Error {} // The engine does not know this process any more.
class Refused extends Error {} // The request is wrong; sending it again does not help.

// An example: counts words, line by line.
async function wordCount(job: Job): Promise<Json> {
  const text = job.payload.text;
  if (typeof text !== "string") throw new Permanent("payload.text must be a text");
  const lines = text.split("\n");
  let words = 0;
  for (const [index, line] of lines.entries()) {
    job.check();
    words += line.split(/\s+/).filter((word) => word !== "").length;
    await job.progress(Math.floor((100 * (index + 1)) / lines.length), `line ${index + 1} of ${lines.length}`);
  }
  await job.log(`counted ${words} words`);
  return { words };
}

const handlers: { [jobType: string]: Handler } = {
  word_count: wordCount,
  noop: async (job) => job.payload,
};

// POST with JSON.
class Api {
  url: string;
  token: string;
  constructor(url: string, token: string) {
    this.url = url.replace(/\/+$/, "");
    this.token = token;
  }

  async post(verb: string, body: object, timeoutMs = 30_000, stop?: AbortSignal): Promise<any> {
    const time = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(`${this.url}/api/v1/work/${verb}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal: stop === undefined ? time : AbortSignal.any([time, stop]),
    });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text);
    if (answer.status === 409 && text.includes('"lease_lost"')) throw new NotRegistered(text);
    const message = `${verb}: ${answer.status} ${text}`;
    if ([429, 502, 503, 504].includes(answer.status)) throw new Error(message);
    throw new Refused(message);
  }

  // Repeats while nothing is known to have happened: all verbs may be repeated.
  async postUntilAnswered(verb: string, body: object): Promise<any> {
    for (let pause = 200; ; pause = Math.min(pause * 2, 5_000)) {
      try {
        return await this.post(verb, body);
      } catch (error) {
        if (error instanceof NotRegistered || error instanceof Refused) throw error;
        console.error(`worker: ${describe(error)}; again in ${pause} ms`);
        await sleep(pause);
      }
    }
  }
}

// One delivery, as a handler sees it.
class Job {
  worker: Worker;
  claimed: ClaimedJob;
  payload: { [name: string]: Json };
  stopped = false;
  lastReport = 0;

  constructor(worker: Worker, claimed: ClaimedJob) {
    this.worker = worker;
    this.claimed = claimed;
    this.payload = claimed.payload;
  }

  // Between steps: somebody wants the job to stop, or it is not ours any more.
  check(): void {
    if (this.stopped) throw new Cancelled("stopped");
  }

  // At most once a second, and at the end: people read it, not machines.
  async progress(percent: number, message = ""): Promise<void> {
    const now = performance.now();
    if (percent < 100 && now - this.lastReport < 1000) return;
    this.lastReport = now;
    const answer = await this.worker.call("progress", {
      items: [{ ...this.held(), progress: percent, message }],
    });
    for (const item of answer.items) {
      if (item.cancel_requested || !item.held) this.stopped = true;
    }
  }

  async log(message: string, level = "info"): Promise<void> {
    await this.worker.call("log", { items: [{ ...this.held(), level, message, at_ms: Date.now() }] });
  }

  held(): { job_id: string; token: string } {
    return { job_id: this.claimed.job_id, token: this.claimed.token };
  }
}

interface Options {
  queues: string[];
  slots: number;
  leaseSeconds: number;
}

class Worker {
  api: Api;
  options: Options;
  key: WorkerKey = { worker_id: "", process: "" };
  jobs = new Map<string, Job>(); // By token.
  running = new Set<Promise<void>>();
  stopping = new AbortController();
  left = new AbortController();

  constructor(api: Api, options: Options) {
    this.api = api;
    this.options = options;
  }

  async run(): Promise<void> {
    await this.register();
    const beats = this.beat();
    while (!this.stopping.signal.aborted) {
      if (this.jobs.size >= this.options.slots) await Promise.race([...this.running, this.stopped()]);
      else await this.claim();
    }
    await this.drain();
    await beats;
  }

  async register(): Promise<void> {
    const answer = await this.api.postUntilAnswered("register", {
      name: "typescript",
      host: hostname(),
      pid: process.pid,
      version: "example",
      slots: this.options.slots,
      queues: this.options.queues,
      job_types: Object.keys(handlers),
      lease_seconds: this.options.leaseSeconds,
    });
    this.key = { worker_id: answer.worker_id, process: answer.process };
    console.error(`worker: registered as ${answer.worker_id}`);
  }

  call(verb: string, body: object): Promise<any> {
    return this.api.postUntilAnswered(verb, { ...this.key, ...body });
  }

  async claim(): Promise<void> {
    const body = {
      ...this.key,
      queues: this.options.queues,
      job_types: Object.keys(handlers),
      credit: this.options.slots - this.jobs.size,
      wait_seconds: 20,
      held: [...this.jobs.keys()],
    };
    try {
      const answer = await this.api.post("claim", body, 40_000, this.stopping.signal);
      for (const claimed of answer.jobs as ClaimedJob[]) this.start(new Job(this, claimed));
      this.cancel(answer.cancel);
    } catch (error) {
      if (this.stopping.signal.aborted) return; // What it was given goes back when we leave.
      if (error instanceof NotRegistered) {
        // Declared dead, perhaps after a long pause. Jobs that run are others' now.
        for (const job of this.jobs.values()) job.stopped = true;
        await this.register();
        return;
      }
      console.error(`worker: ${describe(error)}`);
      await sleep(1000);
    }
  }

  start(job: Job): void {
    this.jobs.set(job.claimed.token, job);
    const work = this.work(job).finally(() => {
      this.jobs.delete(job.claimed.token);
      this.running.delete(work);
    });
    this.running.add(work);
  }

  async work(job: Job): Promise<void> {
    const outcome = await this.outcomeOf(job);
    try {
      const answer = await this.call("settle", { settlements: [{ ...job.held(), ...outcome }] });
      const item = answer.items[0];
      if (!["settled", "replaced"].includes(item.answer)) console.error(`worker: job ${item.job_id}: ${item.answer}`);
    } catch (error) {
      console.error(`worker: ${describe(error)}`);
    }
  }

  async outcomeOf(job: Job): Promise<object> {
    try {
      return { outcome: "ok", result: await handlers[job.claimed.job_type](job) };
    } catch (error) {
      if (error instanceof Cancelled) return { outcome: "cancelled" };
      const message = describe(error).slice(0, 8000);
      if (error instanceof Permanent) return { outcome: "permanent", error: { error_type: "permanent", message } };
      if (error instanceof Retry) {
        return {
          outcome: "retry",
          error: { error_type: "retry", message },
          ...(error.afterSeconds === undefined ? {} : { retry_after_seconds: error.afterSeconds }),
        };
      }
      // A bug of the handler: the queue's policy decides.
      return { outcome: "retry", error: { error_type: error instanceof Error ? error.name : "error", message } };
    }
  }

  async beat(): Promise<void> {
    for (;;) {
      try {
        await sleep((this.options.leaseSeconds * 1000) / 3, undefined, { signal: this.left.signal });
      } catch {
        return;
      }
      try {
        const alive = { running: this.jobs.size, draining: this.stopping.signal.aborted };
        const answer = await this.api.post("extend", { ...this.key, ...alive }, 10_000);
        this.cancel(answer.cancel);
      } catch (error) {
        // Of an unknown process the next claim hears too, and begins anew.
        if (!(error instanceof NotRegistered)) console.error(`worker: ${describe(error)}`);
      }
    }
  }

  cancel(requests: CancelRequest[]): void {
    for (const request of requests) {
      const job = this.jobs.get(request.token);
      if (job !== undefined) job.stopped = true;
    }
  }

  stopped(): Promise<void> {
    return new Promise((resolve) => {
      if (this.stopping.signal.aborted) resolve();
      this.stopping.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  // Lets jobs end; what is left goes back without charge.
  async drain(milliseconds = 30_000): Promise<void> {
    await Promise.race([Promise.all(this.running), sleep(milliseconds, undefined, { ref: false })]);
    this.left.abort();
    const answer = await this.call("deregister", {});
    console.error(`worker: left; ${answer.handed_back} jobs went back`);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const token = process.env.MILLRACE_TOKEN;
if (!token) {
  console.error("worker: MILLRACE_TOKEN is not set; see the top of this file");
  process.exit(2);
}
const worker = new Worker(new Api(process.env.MILLRACE_URL ?? "http://127.0.0.1:8080", token), {
  queues: (process.env.MILLRACE_QUEUES ?? "default").split(","),
  slots: Number(process.env.MILLRACE_SLOTS ?? "4"),
  leaseSeconds: Number(process.env.MILLRACE_LEASE_SECONDS ?? "30"),
});
for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => worker.stopping.abort());
await worker.run();
process.exit(0);
