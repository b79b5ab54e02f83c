// graphile-worker behind the interface that peer.mjs measures.
import { Logger, makeWorkerUtils, run, runMigrations } from "graphile-worker";

const logger = new Logger(() => () => {});

export async function install(url) {
  await runMigrations({ connectionString: url, logger });
}

// Many jobs a call, by the library's own bulk function.
export async function bulk(url) {
  const utils = await makeWorkerUtils({ connectionString: url, logger, maxPoolSize: 4 });
  return {
    add: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: "bench", payload }))),
    close: () => utils.release(),
  };
}

export async function single(url) {
  const utils = await makeWorkerUtils({ connectionString: url, logger, maxPoolSize: 1 });
  return {
    add: (payload) => utils.addJob("bench", payload),
    close: () => utils.release(),
  };
}

export const pending = "select count(*)::int as left from graphile_worker._private_jobs";

export async function startWorker(url, config, onJobs) {
  await run({
    connectionString: url,
    logger,
    noHandleSignals: true,
    concurrency: config.concurrency,
    taskList: { bench: async (payload) => onJobs([payload]) },
    preset: {
      worker: {
        maxPoolSize: config.poolSize ?? 10,
        ...(config.localQueue ? { localQueue: { size: config.localQueue } } : {}),
        ...(config.batchDelay === undefined
          ? {}
          : { completeJobBatchDelay: config.batchDelay, failJobBatchDelay: config.batchDelay }),
      },
    },
  });
}
