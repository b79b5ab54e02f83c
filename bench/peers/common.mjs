// What the programs of the peers share.
import { performance } from "node:perf_hooks";

// The realtime clock in milliseconds, finer than Date.
export function now() {
  return performance.timeOrigin + performance.now();
}

export function sleep(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

export function adapterOf(peer) {
  const files = { "graphile-worker": "graphile", "pg-boss": "pgboss", pgmq: "pgmq" };
  return import(`./${files[peer]}.mjs`);
}

// The same size and shape as the payloads of `millrace bench`.
export function payload(number, bytes) {
  const text = JSON.stringify({ number, fill: "" });
  return { number, fill: "x".repeat(Math.max(0, bytes - text.length)) };
}

export function payloads(from, count, bytes) {
  return Array.from({ length: count }, (_, i) => payload(from + i, bytes));
}
