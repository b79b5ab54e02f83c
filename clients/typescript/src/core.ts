// Core: how a call of the API becomes requests: credentials, keys, time-outs, retries, pages, streams.
//
// A call is repeated only where that is safe: reads, PUT and DELETE, and POSTs with an Idempotency-Key, which creating
// calls get by themselves. What is repeated: no connection, 408, 429, 502, 503, 504; waits grow, are spread by chance,
// and are never shorter than the server's Retry-After.
import { ConnectionError, parseRetryAfter, ProblemError } from "./problem.ts";
import { EventParser, type ServerEvent } from "./sse.ts";

export type { ServerEvent } from "./sse.ts";

export interface OperationSpec {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly query?: readonly string[];
  readonly header?: readonly string[];
  /** Path parameters that take the rest of the path, slashes and all. */
  readonly rest?: readonly string[];
  readonly body?: "json" | "stream";
  readonly contentTypes?: readonly string[];
  readonly idempotencyKey?: boolean;
  readonly answer: "json" | "text" | "raw" | "events" | "none";
}

export interface ClientOptions {
  /** "http://127.0.0.1:8080" */
  baseUrl: string;
  /** A JWT or an API key; a function is asked before every request, so that tokens can be renewed. */
  token?: string | (() => string | Promise<string>);
  /** For credentials that may act for several tenants. */
  tenant?: string;
  /** Further headers of every request. */
  headers?: Record<string, string>;
  /** How often a call is repeated at most; 4. */
  retries?: number;
  /** The first wait before a repeat; 200. Doubled each time. */
  retryBaseMs?: number;
  /** The longest wait; 20000. A server that asks for more gets its way as the error it sent. */
  retryMaxMs?: number;
  /** For one request; 60000. Streams have it until their first byte. */
  timeoutMs?: number;
  /** Instead of the global one. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  retries?: number;
  tenant?: string;
  headers?: Record<string, string>;
  /** Follows the request through all logs, and is stored with the jobs that it makes. */
  correlationId?: string;
  /** Of a call that takes one: chosen by the caller, so that it holds across processes. false: none. */
  idempotencyKey?: string | false;
  /** An ETag; the answer may then be 304, see Core.request. */
  ifNoneMatch?: string;
  /** Of a body that is not JSON. */
  contentType?: string;
}

export interface StreamOptions extends Omit<CallOptions, "idempotencyKey" | "ifNoneMatch" | "contentType"> {
  /** Where to begin: the id of the last event that was seen. */
  lastEventId?: string;
  /** Without a byte for so long the stream is opened anew; 60000. */
  idleTimeoutMs?: number;
}

export interface Answer<T> {
  status: number;
  headers: Headers;
  etag: string | undefined;
  /** Nothing with 304. */
  data: T | undefined;
}

type Params = Readonly<Record<string, unknown>>;
type Sent = { response: Response; done: () => void };

const BYTES = "application/octet-stream";
const RETRIED = new Set([408, 429, 502, 503, 504]);
const SAFE = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);

export class Core {
  readonly #options: ClientOptions;
  readonly #base: string;

  constructor(options: ClientOptions) {
    const url = new URL(options.baseUrl);
    if (url.protocol !== "http:" && url.protocol !== "https:") throw new TypeError("baseUrl must be http or https");
    this.#options = options;
    this.#base = url.href.replace(/\/+$/, "");
  }

  /** The answer's content as the operation has it. */
  async call<T>(spec: OperationSpec, params: object, body: unknown, options: CallOptions): Promise<T> {
    return (await this.request<T>(spec, params, body, options)).data as T;
  }

  /** The answer with its status and headers. */
  async request<T>(spec: OperationSpec, params: object, body: unknown, options: CallOptions): Promise<Answer<T>> {
    const url = this.url(spec, params as Params);
    const content = encodeBody(spec, body, options);
    const key = spec.idempotencyKey && options.idempotencyKey !== false ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
    const headers = { ...content.headers, ...headerParams(spec, params as Params) };
    if (key !== undefined) headers["Idempotency-Key"] = key;
    if (options.ifNoneMatch !== undefined) headers["If-None-Match"] = options.ifNoneMatch;
    const repeatable = content.repeatable && (SAFE.has(spec.method) || key !== undefined);
    const answer = await this.#send(spec, url, headers, content.body, options, repeatable);
    try {
      return {
        status: answer.response.status,
        headers: answer.response.headers,
        etag: answer.response.headers.get("etag") ?? undefined,
        data: (await decode(spec, answer.response)) as T | undefined,
      };
    } finally {
      answer.done();
    }
  }

  /** The items of all pages. */
  async *items<T>(spec: OperationSpec, params: object, options: CallOptions): AsyncGenerator<T, void, undefined> {
    let cursor: unknown = (params as Params)["cursor"];
    for (;;) {
      const page = await this.call<{ items: T[]; next_cursor: string | null }>(spec, { ...params, cursor }, undefined, options);
      yield* page.items;
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  /** Events until the server answers 204; opened anew, where the last one was, whenever the stream breaks or ends. */
  async *events(spec: OperationSpec, params: object, options: StreamOptions): AsyncGenerator<ServerEvent, void, undefined> {
    const url = this.url(spec, params as Params);
    const headers: Record<string, string> = { Accept: "text/event-stream", ...headerParams(spec, params as Params) };
    const retries = options.retries ?? this.#options.retries ?? 4;
    let lastEventId = options.lastEventId ?? "";
    let pauseMs = 1000;
    for (let failures = 0; ; ) {
      if (lastEventId !== "") headers["Last-Event-ID"] = lastEventId;
      const answer = await this.#send(spec, url, headers, undefined, options, true);
      if (answer.response.status === 204 || answer.response.body === null) return answer.done();
      const parser = new EventParser(lastEventId);
      try {
        for await (const piece of pieces(answer.response.body, options.idleTimeoutMs ?? 60_000, options.signal)) {
          failures = 0;
          for (const event of parser.push(piece)) {
            lastEventId = event.id;
            yield event;
          }
        }
      } catch (error) {
        options.signal?.throwIfAborted();
        if (++failures > retries) throw new ConnectionError("the stream breaks again and again", false, error);
      } finally {
        answer.done();
      }
      lastEventId = parser.lastEventId;
      pauseMs = parser.retryMs ?? pauseMs;
      await sleep(Math.max(pauseMs, failures === 0 ? 0 : this.#backoff(failures)), options.signal);
    }
  }

  url(spec: OperationSpec, params: Params): string {
    const path = spec.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
      const value = params[name];
      if (value === undefined || value === null || value === "") throw new TypeError(`${spec.id}: ${name} is missing`);
      const text = String(value);
      const rest = spec.rest?.includes(name) ?? false;
      return rest ? text.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(text);
    });
    const query = new URLSearchParams();
    for (const name of spec.query ?? []) {
      const value = params[name];
      if (value === undefined || value === null) continue;
      query.append(name, Array.isArray(value) ? value.join(",") : String(value));
    }
    const text = query.toString();
    return this.#base + path + (text === "" ? "" : `?${text}`);
  }

  async #send(
    spec: OperationSpec, url: string, headers: Record<string, string>, body: BodyInit | undefined, options: CallOptions, repeatable: boolean,
  ): Promise<Sent> {
    const retries = repeatable ? (options.retries ?? this.#options.retries ?? 4) : 0;
    let inDoubt = false;
    for (let attempt = 0; ; ++attempt) {
      options.signal?.throwIfAborted();
      const all = await this.#headers(headers, options);
      let failure: ProblemError | ConnectionError;
      try {
        const sent = await this.#once(spec, url, all, body, options);
        const { response } = sent;
        if (response.ok || response.status === 304) return sent;
        failure = await ProblemError.from(response).finally(sent.done);
        // The request that got no answer had done it.
        if (response.status === 404 && spec.method === "DELETE" && inDoubt) return { response: new Response(null, { status: 204 }), done: () => {} };
        // A request before this one, whose answer did not come, is still under way.
        const underWay = response.status === 409 && failure.code === "conflict" && inDoubt && spec.idempotencyKey === true;
        if (!RETRIED.has(response.status) && !underWay) throw failure;
        if (response.status === 504) inDoubt = true;
      } catch (error) {
        if (error instanceof ProblemError) throw error;
        options.signal?.throwIfAborted();
        inDoubt = true;
        failure = new ConnectionError(`${spec.method} ${spec.path}: no answer`, !SAFE.has(spec.method), error);
      }
      const asked = failure instanceof ProblemError ? (failure.retryAfterMs ?? 0) : 0;
      if (attempt >= retries || asked > (this.#options.retryMaxMs ?? 20_000)) throw failure;
      await sleep(Math.max(asked, this.#backoff(attempt + 1)), options.signal);
    }
  }

  async #headers(headers: Record<string, string>, options: CallOptions): Promise<Headers> {
    const all = new Headers(this.#options.headers);
    const { token } = this.#options;
    const bearer = typeof token === "function" ? await token() : token;
    if (bearer !== undefined) all.set("Authorization", `Bearer ${bearer}`);
    const tenant = options.tenant ?? this.#options.tenant;
    if (tenant !== undefined) all.set("x-millrace-tenant", tenant);
    if (options.correlationId !== undefined) all.set("x-correlation-id", options.correlationId);
    for (const [name, value] of Object.entries({ ...headers, ...options.headers })) all.set(name, value);
    return all;
  }

  async #once(spec: OperationSpec, url: string, headers: Headers, body: BodyInit | undefined, options: CallOptions): Promise<Sent> {
    const control = new AbortController();
    const abort = () => control.abort(options.signal?.reason);
    options.signal?.addEventListener("abort", abort, { once: true });
    if (options.signal?.aborted) abort(); // While a token was asked for; its event has been.
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? 60_000;
    const timer = setTimeout(() => control.abort(new DOMException(`no answer within ${timeoutMs} ms`, "TimeoutError")), timeoutMs);
    const done = () => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", abort);
    };
    try {
      const init: RequestInit & { duplex?: "half" } = { method: spec.method, headers, signal: control.signal };
      if (body !== undefined) init.body = body;
      if (body instanceof ReadableStream) init.duplex = "half";
      const response = await (this.#options.fetch ?? fetch)(url, init);
      const streamed = spec.answer === "events" || spec.answer === "raw";
      if (!streamed || !response.ok) {
        const whole = await buffered(response);
        done();
        return { response: whole, done: () => {} };
      }
      clearTimeout(timer); // From here on the reader decides how long it takes.
      return { response, done: spec.answer === "events" ? () => (done(), control.abort()) : () => {} };
    } catch (error) {
      done();
      throw error;
    }
  }

  /** Up to the doubled base, by chance: clients that failed together do not come back together. */
  #backoff(attempt: number): number {
    const base = this.#options.retryBaseMs ?? 200;
    const most = Math.min(base * 2 ** (attempt - 1), this.#options.retryMaxMs ?? 20_000);
    return most / 2 + (Math.random() * most) / 2;
  }
}

interface Content {
  body: BodyInit | undefined;
  headers: Record<string, string>;
  repeatable: boolean;
}

function encodeBody(spec: OperationSpec, body: unknown, options: CallOptions): Content {
  if (spec.body === undefined || body === undefined) return { body: undefined, headers: {}, repeatable: true };
  if (spec.body === "json") return { body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, repeatable: true };
  const headers: Record<string, string> = {};
  // A form names its own boundary, a blob its own type.
  const named = body instanceof FormData || (body instanceof Blob && body.type !== "");
  if (options.contentType !== undefined) headers["Content-Type"] = options.contentType;
  else if (!named && spec.contentTypes?.some((type) => type === "*/*" || type === BYTES)) headers["Content-Type"] = BYTES;
  return { body: body as BodyInit, headers, repeatable: !(body instanceof ReadableStream) };
}

function headerParams(spec: OperationSpec, params: Params): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of spec.header ?? []) {
    const value = params[name];
    if (value !== undefined && value !== null) headers[name] = String(value);
  }
  return headers;
}

/** With its body read: an answer that breaks off is no answer, and the call can be repeated. */
async function buffered(response: Response): Promise<Response> {
  const { status, headers } = response;
  const bytes = await response.arrayBuffer();
  return new Response(status === 204 || status === 205 || status === 304 ? null : bytes, { status, headers });
}

async function decode(spec: OperationSpec, response: Response): Promise<unknown> {
  if (spec.answer === "raw") return response;
  if (response.status === 304 || response.status === 204) return undefined;
  if (spec.answer === "json") return await response.json();
  const text = await response.text();
  return spec.answer === "none" ? undefined : text;
}

/** The text of a body as it comes. Throws when nothing comes for too long, or the signal says so. */
async function* pieces(body: ReadableStream<Uint8Array>, idleMs: number, signal: AbortSignal | undefined): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), idleMs, signal);
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {}); // Broken already; there is nobody to tell.
  }
}

function within<T>(promise: Promise<T>, ms: number, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => (end(), reject(signal?.reason));
    const timer = setTimeout(() => (end(), reject(new DOMException(`nothing came for ${ms} ms`, "TimeoutError"))), ms);
    signal?.addEventListener("abort", abort, { once: true });
    promise.then((value) => (end(), resolve(value)), (error) => (end(), reject(error)));
  });
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => (clearTimeout(timer), reject(signal?.reason));
    const timer = setTimeout(() => (signal?.removeEventListener("abort", abort), resolve()), ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

export { parseRetryAfter };
