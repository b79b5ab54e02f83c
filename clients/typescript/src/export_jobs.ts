// ExportJobs: what a page that shows exports keeps of them: which are under way and how far each is.
//
// order makes one order of clicks that come close together. subscribeToJob follows the live stream of an export; where
// no stream comes through (a proxy, an old browser, a server in trouble) it asks every second instead. onChange is called
// after every change; a store of any framework can be fed from it.
import { type CallOptions, sleep } from "./core.ts";
import type { MillraceClient } from "./index.ts";
import type { ExportStatus, NewExport } from "./schemas.ts";

export interface ExportJobState {
  jobId: string;
  status: ExportStatus["status"];
  progress: number;
  resultUrl: string | null;
  error: string | null;
}

export interface FollowOptions extends Pick<CallOptions, "signal"> {
  /** Between two looks where there is no stream; 1000. */
  pollMs?: number;
  /** Without a stream it is given up after so long; 60000. The export goes on. */
  pollTimeoutMs?: number;
}

export interface OrderOptions extends CallOptions {
  /** An order is sent when so long no other one of its document has come; 500. */
  debounceMs?: number;
}

interface WaitingOrder {
  timer: ReturnType<typeof setTimeout>;
  callers: OrderCaller[];
}

interface OrderCaller {
  resolve: (jobId: string) => void;
  reject: (reason: unknown) => void;
}

const FINAL: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled"]);

export class ExportJobs {
  /** Those that are followed, and those that have ended and were not forgotten. */
  readonly activeJobs: ReadonlyMap<string, ExportJobState>;
  readonly #jobs = new Map<string, ExportJobState>();
  readonly #orders = new Map<string, WaitingOrder>(); // By document.
  readonly #client: MillraceClient;
  readonly #onChange: (jobs: ExportJobs) => void;

  constructor(client: MillraceClient, onChange: (jobs: ExportJobs) => void = () => {}) {
    this.#client = client;
    this.#onChange = onChange;
    this.activeJobs = this.#jobs;
  }

  /** The mean of all that are here, 0 to 100; 100 without any. */
  get overallProgress(): number {
    if (this.#jobs.size === 0) return 100;
    let sum = 0;
    for (const job of this.#jobs.values()) sum += job.status === "completed" ? 100 : job.progress;
    return Math.round(sum / this.#jobs.size);
  }

  /** What somebody has heard of a job; progress never goes back while it runs. */
  updateJobProgress(jobId: string, change: Partial<Omit<ExportJobState, "jobId">>): ExportJobState {
    const known = this.#jobs.get(jobId) ?? { jobId, status: "pending", progress: 0, resultUrl: null, error: null };
    const next = { ...known, ...change };
    if (next.status === "processing" && known.status === "processing") next.progress = Math.max(next.progress, known.progress);
    if (next.status === "completed") next.progress = 100;
    this.#jobs.set(jobId, next);
    this.#onChange(this);
    return next;
  }

  /** The job of an order. Several of one document in quick succession are one: the last one counts, and all get its job. */
  order(body: NewExport, options: OrderOptions = {}): Promise<string> {
    const { debounceMs = 500, ...call } = options;
    const before = this.#orders.get(body.documentId);
    if (before !== undefined) clearTimeout(before.timer);
    return new Promise((resolve, reject) => {
      const callers = [...(before?.callers ?? []), { resolve, reject }];
      const send = async () => {
        this.#orders.delete(body.documentId);
        try {
          const { data } = await this.#client.export.create(body, call);
          this.updateJobProgress(data.jobId, {});
          for (const caller of callers) caller.resolve(data.jobId);
        } catch (error) {
          for (const caller of callers) caller.reject(error);
        }
      };
      this.#orders.set(body.documentId, { timer: setTimeout(send, debounceMs), callers });
    });
  }

  forget(jobId: string): void {
    if (this.#jobs.delete(jobId)) this.#onChange(this);
  }

  /** Until the export has ended: its state then. */
  async subscribeToJob(jobId: string, options: FollowOptions = {}): Promise<ExportJobState> {
    this.updateJobProgress(jobId, {});
    const call = options.signal === undefined ? {} : { signal: options.signal };
    try {
      for await (const event of this.#client.export.stream({ id: jobId }, call)) {
        const state = this.#heard(jobId, event.event, event.data as Record<string, unknown>);
        if (state !== undefined && FINAL.has(state.status)) return state;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      // The server has answered: there is no such job, or no right to it. Trouble on the way says nothing of the job.
      const { status } = error as { status?: number };
      if (status !== undefined && status < 500) throw error;
    }
    return this.#poll(jobId, options, call);
  }

  #heard(jobId: string, event: string, data: Record<string, unknown>): ExportJobState | undefined {
    if (event === "job_error") throw new Error(String(data.message));
    if (typeof data.status !== "string") return undefined;
    const status = data.status === "retrying" || data.status === "deferred" ? "pending" : (data.status as ExportJobState["status"]);
    const change: Partial<ExportJobState> = { status };
    if (typeof data.progress === "number") change.progress = data.progress;
    // null says that there is none any more: a job that is tried again has no error.
    if (typeof data.resultUrl === "string" || data.resultUrl === null) change.resultUrl = data.resultUrl;
    if (typeof data.error === "string" || data.error === null) change.error = data.error;
    return this.updateJobProgress(jobId, change);
  }

  async #poll(jobId: string, options: FollowOptions, call: CallOptions): Promise<ExportJobState> {
    const deadline = performance.now() + (options.pollTimeoutMs ?? 60_000);
    for (;;) {
      const { data } = await this.#client.export.status({ id: jobId }, call);
      const state = this.updateJobProgress(jobId, { status: data.status, progress: data.progress, resultUrl: data.resultUrl, error: data.error });
      if (FINAL.has(state.status) || performance.now() >= deadline) return state;
      await sleep(options.pollMs ?? 1000, options.signal);
    }
  }
}
