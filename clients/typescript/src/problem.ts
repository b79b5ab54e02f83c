// Errors of calls: what the server said (ProblemError), or that nothing usable came (ConnectionError).
import type { FieldError, Problem } from "./schemas.ts";

/** The server answered with a problem (RFC 9457). Programs act on `code`; `cid` finds the request in the server's log. */
export class ProblemError extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly cid: string;
  /** Every rule that the request broke, with its place. */
  readonly errors: readonly FieldError[];
  readonly problem: Partial<Problem> & Record<string, unknown>;
  /** How long the server asked to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, problem: Partial<Problem> & Record<string, unknown>, cid: string, retryAfterMs?: number) {
    const detail = text(problem.detail) ?? text(problem["message"]) ?? text(problem.title) ?? "the server gave no reason";
    super(`${status} ${text(problem.code) ?? "error"}: ${detail}`);
    this.name = "ProblemError";
    this.status = status;
    this.code = text(problem.code) ?? "";
    this.detail = detail;
    this.cid = text(problem.cid) ?? cid;
    this.errors = Array.isArray(problem.errors) ? problem.errors : [];
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }

  /** Of an answer with a status of 400 or more; reads its body, of which no more than 64 KiB are looked at. */
  static async from(response: Response): Promise<ProblemError> {
    const cid = response.headers.get("x-correlation-id") ?? "";
    let problem: Partial<Problem> & Record<string, unknown> = {};
    try {
      const body: unknown = JSON.parse((await response.text()).slice(0, 65536));
      if (body !== null && typeof body === "object" && !Array.isArray(body)) problem = body as typeof problem;
    } catch {
      // Not JSON: a proxy in between, or nothing at all. The status says enough.
    }
    return new ProblemError(response.status, problem, cid, parseRetryAfter(response.headers.get("retry-after")));
  }
}

/** No answer came, however often it was tried. `inDoubt`: the server may have done what was asked. */
export class ConnectionError extends Error {
  readonly inDoubt: boolean;

  constructor(message: string, inDoubt: boolean, cause?: unknown) {
    super(message, { cause });
    this.name = "ConnectionError";
    this.inDoubt = inDoubt;
  }
}

/** Milliseconds of a Retry-After header: seconds, or a date. Nothing for what is neither. */
export function parseRetryAfter(value: string | null, now: number = Date.now()): number | undefined {
  if (value === null) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
