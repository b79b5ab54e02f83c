// A job service as one writes it with Fastify and pg: one process per core, a pool in each, prepared
// statements, schemas for what comes in and goes out, tokens verified once and remembered.
// node fastify.mjs '{"url": …, "secret": …, "schema": "own" | "millrace", "workers": n}'; says its
// port on standard output when every process listens.
import cluster from "node:cluster";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createVerifier } from "fast-jwt";
import Fastify from "fastify";
import pg from "pg";

const spec = JSON.parse(process.argv[2]);

function lead() {
  let listening = 0;
  cluster.on("listening", (_, address) => {
    listening += 1;
    if (listening === spec.workers) process.stdout.write(`${JSON.stringify({ port: address.port })}\n`);
  });
  cluster.on("exit", () => process.exit(1));
  process.on("SIGTERM", () => process.exit(0));
  for (let i = 0; i < spec.workers; ++i) cluster.fork();
}

const uuid = { type: "string", format: "uuid" };
const text = { type: "string", nullable: true };
const time = { type: "string", format: "date-time", nullable: true };
const json = { type: "object", additionalProperties: true, nullable: true };
const whole = { type: "integer" };
const job = {
  type: "object",
  properties: {
    job_id: uuid,
    tenant_id: text,
    queue: { type: "string" },
    job_type: { type: "string" },
    status: { type: "string" },
    priority: whole,
    attempts: whole,
    max_attempts: whole,
    progress: whole,
    worker_id: text,
    result: json,
    error: json,
    correlation_id: text,
    created_at: time,
    run_at: time,
    started_at: time,
    finished_at: time,
  },
};
const newJob = {
  type: "object",
  required: ["job_type", "payload"],
  additionalProperties: false,
  properties: {
    job_type: { type: "string", minLength: 1, maxLength: 200 },
    queue: { type: "string", minLength: 1, maxLength: 200 },
    payload: { type: "object" },
  },
};

async function serve() {
  const statements = JSON.parse(readFileSync(new URL("./statements.json", import.meta.url)))[spec.schema];
  const pool = new pg.Pool({ connectionString: spec.url, max: 10 });
  const verify = createVerifier({ key: spec.secret, algorithms: ["HS256"], cache: true });
  const app = Fastify({ logger: false });

  app.addHook("onRequest", async (request, reply) => {
    const header = request.headers.authorization ?? "";
    try {
      request.claims = verify(header.startsWith("Bearer ") ? header.slice(7) : "");
    } catch {
      return reply.code(401).send({ message: "who is it?" });
    }
  });

  const idOnly = { type: "object", properties: { id: uuid } };
  const shape = spec.schema === "own" ? { 200: job } : undefined;
  app.get("/api/v1/jobs/:id", { schema: { params: idOnly, response: shape } }, async (request, reply) => {
    const { rows } = await pool.query({ name: "get", text: statements.get, values: [request.params.id] });
    if (rows.length === 0) return reply.code(404).send({ message: "no such job" });
    return spec.schema === "own" ? rows[0] : rows[0].job;
  });

  const created = { 201: { type: "object", properties: { job_id: uuid } } };
  app.post("/api/v1/jobs", { schema: { body: newJob, response: created } }, async (request, reply) => {
    const { job_type, payload, queue } = request.body;
    const correlation = request.headers["x-correlation-id"] ?? randomUUID();
    const { rows } = await pool.query({
      name: "add",
      text: statements.add,
      values: [job_type, JSON.stringify(payload), queue ?? "default", correlation],
    });
    return reply.code(201).send(rows[0]);
  });

  await app.listen({ host: "127.0.0.1", port: 0 });
}

if (cluster.isPrimary) {
  lead();
} else {
  await serve();
}
