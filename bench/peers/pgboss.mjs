// pg-boss behind the interface that peer.mjs measures.
import { PgBoss } from "pg-boss";

async function start(url, options = {}) {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false, ...options });
  boss.on("error", (error) => {
    console.error(error);
    process.exit(1);
  });
  await boss.start();
  return boss;
}

export async function install(url, config = {}) {
  const boss = await start(url, { useListenNotify: config.notify ?? false });
  await boss.createQueue("bench", { notify: config.notify ?? false });
  await boss.stop({ graceful: false });
}

export async function bulk(url) {
  const boss = await start(url, { max: 4 });
  return {
    add: (payloads) => boss.insert("bench", payloads.map((data) => ({ data }))),
    close: () => boss.stop({ graceful: false }),
  };
}

export async function single(url) {
  const boss = await start(url, { max: 1 });
  return {
    add: (payload) => boss.send("bench", payload),
    close: () => boss.stop({ graceful: false }),
  };
}

export const pending =
  "select count(*)::int as left from pgboss.job where state in ('created', 'retry', 'active')";

export async function startWorker(url, config, onJobs) {
  const boss = await start(url, { useListenNotify: config.notify ?? false });
  await boss.work(
    "bench",
    {
      batchSize: config.batchSize ?? 1,
      localConcurrency: config.localConcurrency ?? 1,
      pollingIntervalSeconds: 0.5, // Its minimum.
      burstWhenBatchFull: config.burst ?? false,
    },
    async (jobs) => onJobs(jobs.map((job) => job.data)),
  );
}
