// Compiled, never run: what must be an error is one, and what must not be is not.
import { type Job, MillraceClient, type NewJob, type ServerEvent } from "../src/index.ts";

declare const client: MillraceClient;

export async function allowed(): Promise<void> {
  const job: NewJob = { job_type: "noop", payload: { n: 1 } };
  const { job_id } = await client.jobs.create(job);
  const found: Job = await client.jobs.get({ id: job_id });
  const status: "pending" | "retrying" | "deferred" | "processing" | "completed" | "failed" | "cancelled" = found.status;
  for await (const one of client.jobs.listAll({ status })) void one.job_id;
  const answer = await client.request("jobs.get", { params: { id: job_id } });
  void answer.data?.status;
  await client.jobs.cancel({ id: job_id });
  await client.jobs.cancel({ id: job_id }, { reason: "why" }, { timeoutMs: 5 });
}

export async function refused(event: ServerEvent): Promise<void> {
  // @ts-expect-error: the type of the job is required
  await client.jobs.create({ payload: {} });
  // @ts-expect-error: there is no such member
  await client.jobs.create({ job_type: "noop", payload: { n: 1 }, prio: 1 });
  // @ts-expect-error: the id is required
  await client.jobs.get({});
  // @ts-expect-error: not a status
  client.jobs.listAll({ status: "done" });
  // @ts-expect-error: there is no such operation
  await client.request("jobs.explode");
  // @ts-expect-error: data has to be looked at first
  void event.data.progress;
}
