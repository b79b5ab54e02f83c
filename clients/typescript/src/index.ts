// MillraceClient: the operations of the API as methods, by group, and what one wants besides.
import { Api, type OperationId, operations, type OperationTypes } from "./api.ts";
import { type Answer, type CallOptions, type ClientOptions, Core, sleep } from "./core.ts";
import type { Batch, Document, Job } from "./schemas.ts";

export * from "./api.ts";
export type * from "./schemas.ts";
export { type Answer, type CallOptions, type ClientOptions, type OperationSpec, type ServerEvent, type StreamOptions } from "./core.ts";
export { ExportJobs, type ExportJobState, type FollowOptions, type OrderOptions } from "./export_jobs.ts";
export { ConnectionError, ProblemError } from "./problem.ts";
export { EventParser } from "./sse.ts";

export interface WaitOptions extends Pick<CallOptions, "signal" | "tenant" | "correlationId"> {
  /** Gives up after so long with a WaitTimeout; unless said it waits as long as it takes. */
  timeoutMs?: number;
  /** The first pause between two looks; 100. It grows to ten times as much. */
  pollMs?: number;
}

/** It had not ended in time; nothing is wrong with it. */
export class WaitTimeout extends Error {
  constructor(message: string) {
    super(message);
    this.name = "WaitTimeout";
  }
}

const FINAL: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled"]);
const DOCUMENT_ENDED: ReadonlySet<unknown> = new Set(["completed", "partial", "failed", "rejected"]);

export class MillraceClient extends Api {
  constructor(options: ClientOptions) {
    super(new Core(options));
  }

  /** Any operation by its id, with status, headers and ETag; 304 comes as an answer without data. */
  request<Id extends OperationId>(
    id: Id,
    parts: { params?: OperationTypes[Id]["params"]; body?: OperationTypes[Id]["body"] } = {},
    options: CallOptions = {},
  ): Promise<Answer<OperationTypes[Id]["answer"]>> {
    return this.core.request(operations[id], parts.params ?? {}, parts.body, options);
  }

  /** The job once it has ended: completed, failed or cancelled. */
  waitForJob(id: string, options: WaitOptions = {}): Promise<Job> {
    return this.#wait(`job ${id}`, "jobs.get", id, (job: Job) => FINAL.has(job.status), options);
  }

  /** The batch once all of its jobs have ended. */
  waitForBatch(id: string, options: WaitOptions = {}): Promise<Batch> {
    return this.#wait(`batch ${id}`, "batches.get", id, (batch: Batch) => typeof batch.finished_at === "string", options);
  }

  /** The document once it has ended: completed, partial, failed or rejected. */
  waitForDocument(id: string, options: WaitOptions = {}): Promise<Document> {
    return this.#wait(`document ${id}`, "documents.get", id, (document: Document) => DOCUMENT_ENDED.has(document.state), options);
  }

  // By asking again, with the ETag: an answer that has not changed costs a line. A stream would be quicker by half a
  // pause, and one more connection.
  async #wait<T>(what: string, operation: "jobs.get" | "batches.get" | "documents.get", id: string, ended: (value: T) => boolean, options: WaitOptions): Promise<T> {
    const { timeoutMs, pollMs = 100, ...rest } = options;
    const deadline = timeoutMs === undefined ? Infinity : performance.now() + timeoutMs;
    let etag: string | undefined;
    for (let pause = pollMs; ; pause = Math.min(pause * 1.5, pollMs * 10)) {
      const call: CallOptions = etag === undefined ? rest : { ...rest, ifNoneMatch: etag };
      const answer = await this.core.request<T>(operations[operation], { id }, undefined, call);
      if (answer.data !== undefined && ended(answer.data)) return answer.data;
      etag = answer.etag;
      const left = deadline - performance.now();
      if (left <= 0) throw new WaitTimeout(`${what} has not ended within ${timeoutMs} ms`);
      await sleep(Math.min(pause, left), options.signal);
    }
  }
}
